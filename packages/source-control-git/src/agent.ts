import { type SourceControl } from '@litterbox/core/provider';
import { type GitOptions, openGit } from './open-git.ts';

export type { GitOptions } from './open-git.ts';

/** As `git` of this package, without what applies, merges, restores or mends: such calls are refused, and the code is not loaded. */
export function git(options: GitOptions): SourceControl {
  return openGit(options, undefined);
}
