import { type ChangeMark } from '@litterbox/core/provider';
import type { DirectoryDescription } from '../directory/directory-description.ts';

/** What `create` decided for a sandbox of `placeProvider`. */
export interface PlaceMeta extends DirectoryDescription {
  /** Where change scans begin when nothing was recorded yet. */
  readonly firstMark?: ChangeMark;
}
