import type { Policy } from '../../domain/sandbox/policy.ts';
import type { HintReader } from '../../domain/sandbox/system-rule-hint.ts';

/** Messages of programs that want a repository: git itself, husky, setuptools-scm and hatch-vcs. */
const REPOSITORY_WORDS =
  /not a git repository|\.git can't be found|setuptools[-_]scm was unable|unable to detect version for/i;

/**
 * The change by which programs inside find a repository. Nothing when they missed none.
 *
 * @param text the end of what was printed: hostile
 */
export function repositoryHint(
  { workspaceGit }: Pick<Policy, 'workspaceGit'>,
  text: string,
  reader: HintReader,
): string | undefined {
  if (workspaceGit === 'throwaway' || !REPOSITORY_WORDS.test(text)) return undefined;
  return reader === 'agent'
    ? 'the workspace is not a git repository, and its changes are recorded without one; a person can give new sandboxes a repository of their own, with workspace.git = "throwaway" in .litterbox.toml'
    : 'The workspace is not a git repository. If a program needs one, set workspace.git = "throwaway" in .litterbox.toml: new sandboxes then have one of their own, with the branch and the nearest tags of their base.';
}
