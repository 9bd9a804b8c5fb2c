import { LitterboxError } from '../errors/errors.ts';
import { shown } from '../text/shown.ts';
import { repositoryPath } from './repository-path.ts';
import { workspacePath } from './workspace-path.ts';

/** Most files that a sandbox begins with. More are an archive, for a command inside. */
const MAX_FILES = 10_000;

/**
 * Files that a program gives, by normal paths from the top of the workspace. Text becomes UTF-8.
 *
 * @throws LitterboxError `ARG_RANGE` for too many, `INVALID_ARGUMENT` for a path that is the top, there twice or below another file's,
 *   and as `repositoryPath` and `workspacePath` of a path that is written
 */
export function givenFiles(files: Readonly<Record<string, string | Uint8Array>>): ReadonlyMap<string, Uint8Array> {
  const encoder = new TextEncoder();
  const given = new Map<string, Uint8Array>();
  for (const [path, content] of Object.entries(files)) {
    workspacePath('/src', path, { isWritten: true });
    const normal = repositoryPath(path);
    if (normal === '.' || path.endsWith('/')) throw refused(`${shown(path)} names a directory`);
    if (given.has(normal)) throw refused(`${shown(normal)} is there twice`);
    given.set(normal, typeof content === 'string' ? encoder.encode(content) : content);
  }
  for (const path of given.keys()) {
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1))
      if (given.has(path.slice(0, cut)))
        throw refused(`${shown(path)} lies below the file ${shown(path.slice(0, cut))}`);
  }
  if (given.size <= MAX_FILES) return given;
  throw new LitterboxError('ARG_RANGE', `files: got ${given.size}, want at most ${MAX_FILES}.`, {
    operation: 'sandbox.create',
    hint: 'Give the rest as one archive, and unpack it by a command inside.',
  });
}

const refused = (what: string) =>
  new LitterboxError('INVALID_ARGUMENT', `files: ${what}.`, {
    operation: 'sandbox.create',
    hint: "Give each file once, by its path from the top of the workspace: { 'src/main.py': text }.",
  });
