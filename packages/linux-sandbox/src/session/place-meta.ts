import { type SandboxId, type ChangeMark } from '@litterbox/core/provider';
import type { PlaceLimits } from './isolation.ts';

/** What `create` decided for a sandbox; written once into its directory. */
export interface PlaceMeta {
  readonly version: 1;
  readonly id: SandboxId;
  readonly slug: string;
  readonly repositoryId: string;
  readonly workdir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: PlaceLimits;
  readonly playground: string;
  readonly allowDegraded: boolean;
  /** Where change scans begin when nothing was recorded yet. */
  readonly firstMark?: ChangeMark;
}
