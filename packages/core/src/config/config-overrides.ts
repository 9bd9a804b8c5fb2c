import type { NetworkPolicy, Policy } from '../domain/sandbox/policy.ts';

/**
 * What a person says at the command line, in the environment or as a library option, over what the file says. It needs no
 * trust: whoever says it is the user, not the repository.
 */
export interface ConfigOverrides
  extends Partial<
    Pick<
      Policy,
      | 'root'
      | 'limits'
      | 'environment'
      | 'include'
      | 'setup'
      | 'setupTimeoutMs'
      | 'timeoutMs'
      | 'playgroundScope'
      | 'workspaceGit'
      | 'worktrees'
      | 'requireMessage'
      | 'allowDegraded'
    >
  > {
  readonly provider?: string;
  readonly source?: 'head' | 'worktree';
  readonly workdir?: string;
  /** In place of `overlayfs.lower`. */
  readonly lower?: 'frozen' | 'live';
  /** Each member in place of what the file says of it. */
  readonly network?: Partial<NetworkPolicy>;
}
