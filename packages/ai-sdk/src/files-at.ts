import { posix } from 'node:path';
import type { SandboxFiles } from 'litterbox';

/** The calls for files that a session makes. */
export type SessionFiles = Pick<SandboxFiles, 'read' | 'write' | 'stat' | 'list' | 'remove'>;

/** Files of a sandbox by paths that begin at a directory of it, and not at the workspace. */
export function filesAt(files: SandboxFiles, directory: string): SessionFiles {
  const at = (path = '.') => posix.resolve(directory, path);
  return {
    read: async (path, options) => await files.read(at(path), options),
    write: async (path, content, options) => await files.write(at(path), content, options),
    stat: async (path, options) => await files.stat(at(path), options),
    list: async (path, options) => await files.list(at(path), options),
    remove: async (path, options) => await files.remove(at(path), options),
  };
}
