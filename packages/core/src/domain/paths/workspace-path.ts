import { LitterboxError, type LitterboxErrorCode } from '../errors/errors.ts';
import { encodeRaw } from '../text/raw-text.ts';
import { shown } from '../text/shown.ts';

/** Linux's limits. @see https://man7.org/linux/man-pages/man7/path_resolution.7.html */
const MAX_PATH_BYTES = 4096;
const MAX_COMPONENT_BYTES = 255;

/**
 * An absolute path inside a sandbox from what a caller gave: relative paths start at the workdir, `.` and `..` are resolved by
 * the text. Where links lead is decided inside the sandbox, which is all it can lead to.
 *
 * @throws LitterboxError `PATH_EMPTY`, `PATH_NUL`, `PATH_TOO_LONG`, `PATH_ENCODING`, and for a path to be written `PATH_GIT_DIR`.
 */
export function workspacePath(workdir: string, path: string, { isWritten = false } = {}): string {
  const refuse = (code: LitterboxErrorCode, what: string, hint: string) =>
    new LitterboxError(code, `The path ${shown(path)} ${what}.`, { operation: 'sandbox.path', hint });
  if (path === '')
    throw refuse('PATH_EMPTY', 'is empty', 'Name a file, relative to the workspace or absolute in the sandbox.');
  if (path.includes('\0')) throw refuse('PATH_NUL', 'holds a NUL character', 'Remove it.');
  for (const character of path) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff && !(code >= 0xdc80 && code <= 0xdcff))
      throw refuse('PATH_ENCODING', 'is not valid Unicode', 'Give it as UTF-8.');
  }
  const components: string[] = [];
  for (const component of (path.startsWith('/') ? path : `${workdir}/${path}`).split('/')) {
    if (component === '' || component === '.') continue;
    if (component === '..') components.pop();
    else components.push(component);
  }
  // A slash at the end, or a dot, says that it is a directory; whether it is one is known inside.
  const absolute = `/${components.join('/')}${components.length > 0 && /\/\.?$/.test(path) ? '/' : ''}`;
  if (
    encodeRaw(absolute).length > MAX_PATH_BYTES ||
    components.some((component) => encodeRaw(component).length > MAX_COMPONENT_BYTES)
  ) {
    throw refuse(
      'PATH_TOO_LONG',
      `is longer than ${MAX_PATH_BYTES} bytes, or a part of it than ${MAX_COMPONENT_BYTES}`,
      'Use a shorter one.',
    );
  }
  const inside = absolute.startsWith(`${workdir}/`) ? absolute.slice(workdir.length + 1) : '';
  if (isWritten && isInGitDirectory(inside)) {
    throw refuse(
      'PATH_GIT_DIR',
      'lies in a .git directory',
      'Litterbox records every change by itself; no git directory is needed in the sandbox.',
    );
  }
  return absolute;
}

/** Whether a path of the workspace leads into a `.git`, as file systems that fold case take it. */
export function isInGitDirectory(inside: string): boolean {
  return inside.split('/').some((component) => component.toLowerCase() === '.git');
}
