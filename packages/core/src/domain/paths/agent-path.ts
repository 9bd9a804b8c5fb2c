import { LitterboxError } from '../errors/errors.ts';
import { shown } from '../text/shown.ts';
import { isInGitDirectory, workspacePath } from './workspace-path.ts';

/** Leads to the workspace in every sandbox, wherever that is. */
const ALIAS = '/src';

export interface AgentPath {
  /** Absolute inside the sandbox. */
  readonly absolute: string;
  /** Relative to the workspace, `.` for itself; absolute when it lies outside. What answers call it. */
  readonly shown: string;
  readonly isInWorkspace: boolean;
  /** Absolute path of the workspace inside. */
  readonly workdir: string;
  /** Inside the workspace and with a part that begins with a dot. */
  readonly isHidden: boolean;
}

/**
 * A path as an agent gives it, absolute inside or relative to the workspace.
 *
 * @throws LitterboxError as {@link workspacePath}.
 */
export function agentPath(workdir: string, path: string, options?: { readonly isWritten?: boolean }): AgentPath {
  const resolved = workspacePath(workdir, path);
  const aliased =
    resolved === ALIAS || resolved.startsWith(`${ALIAS}/`) ? `${workdir}${resolved.slice(ALIAS.length)}` : resolved;
  const absolute = workspacePath(workdir, aliased, options); // once more: the alias may lead into a .git
  const isInWorkspace = absolute === workdir || absolute.startsWith(`${workdir}/`);
  const inside = absolute.slice(workdir.length + 1).replace(/\/$/, '');
  return {
    absolute,
    shown: isInWorkspace ? inside || '.' : absolute,
    isInWorkspace,
    workdir,
    isHidden: isInWorkspace && inside.split('/').some((part) => part.startsWith('.')),
  };
}

/**
 * Refuses hidden files to whoever reads. A courtesy, not a wall: a command inside reads them all the same. What protects secrets
 * is that untracked files and `.git` never enter a sandbox.
 *
 * @throws LitterboxError `PATH_HIDDEN`, `PATH_GIT_DIR`.
 */
export function assertShown(path: AgentPath): void {
  if (!path.isHidden) return;
  if (isInGitDirectory(path.shown))
    throw new LitterboxError('PATH_GIT_DIR', `The path ${shown(path.shown)} lies in a .git directory.`, {
      operation: 'sandbox.path',
      hint: 'Where the sandbox has a repository, use bash: git log, git show.',
    });
  throw new LitterboxError('PATH_HIDDEN', `${shown(path.shown)} is hidden: a part of its path begins with a dot.`, {
    operation: 'sandbox.path',
    hint: 'Use bash for what is hidden: cat, grep or ls -A.',
  });
}
