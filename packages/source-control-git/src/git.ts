import { type SourceControl } from '@litterbox/core/provider';
import { INTEGRATION } from './integrate/integration.ts';
import { type GitOptions, openGit } from './open-git.ts';

/** Source control over the git command. Does nothing before the first call, but to look for what is expected. */
export function git(options: GitOptions): SourceControl {
  return openGit(options, INTEGRATION);
}
