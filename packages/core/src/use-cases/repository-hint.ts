import type { Policy } from '../domain/policy.ts';

/** What programs say that want a repository: git itself, husky, setuptools-scm and hatch-vcs. */
export const REPOSITORY_WORDS =
  /not a git repository|\.git can't be found|setuptools[-_]scm was unable|unable to detect version for/i;

/**
 * What to change so that programs inside find a repository. Nothing when they missed none.
 *
 * @param log the end of what was printed: hostile
 */
export function repositoryHint({ workspaceGit }: Pick<Policy, 'workspaceGit'>, log: string): string | undefined {
  if (workspaceGit === 'throwaway' || !REPOSITORY_WORDS.test(log)) return undefined;
  return 'The workspace is no git repository. If a program has to find one, set workspace.git = "throwaway" in .litterbox.toml: sandboxes then have one of their own, with the branch and the nearest tags of their base.';
}
