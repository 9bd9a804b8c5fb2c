import { type FileStat, type Host, LitterboxError } from '@litterbox/core/provider';
import type { TreeFile } from '../repository/file-tree.ts';
import type { RepositoryShelf } from '../repository/repository-shelf.ts';

/** A machine on which there are the work trees of a shelf, to be read, and on which nothing runs. */
export function memoryHost(shelf: RepositoryShelf): Host {
  const refuse = () =>
    Promise.reject(new LitterboxError('UNSUPPORTED', 'This machine is in memory.', { operation: 'host.use' }));
  const find = (path: string): TreeFile | undefined => {
    const person = shelf.find(path)?.person;
    return person?.work.get(path.slice(person.root.length + 1));
  };
  const namesIn = (path: string): readonly string[] => {
    const person = shelf.find(path)?.person;
    const above = path === person?.root ? '' : `${path.slice((person?.root.length ?? 0) + 1)}/`;
    const below = [...(person?.work.keys() ?? [])].filter((one) => one.startsWith(above));
    return [...new Set(below.map((one) => one.slice(above.length).split('/')[0] ?? ''))];
  };
  return {
    name: 'memory',
    environment: {},
    facts: refuse,
    spawn: refuse,
    connect: refuse,
    files: {
      async read(path, options) {
        options?.signal?.throwIfAborted();
        return find(path)?.content;
      },
      async stat(path, options): Promise<FileStat | undefined> {
        options?.signal?.throwIfAborted();
        const owner = { uid: 1000, gid: 1000 };
        if (shelf.find(path)?.person.root === path) return { type: 'directory', sizeBytes: 0, mode: 0o755, ...owner };
        const file = find(path);
        if (!file && namesIn(path).length > 0) return { type: 'directory', sizeBytes: 0, mode: 0o755, ...owner };
        return file && { type: file.type, sizeBytes: file.content.length, mode: 0o644, ...owner };
      },
      write: refuse,
      makeDirectory: refuse,
      async list(path, options) {
        options?.signal?.throwIfAborted();
        const names = namesIn(path);
        const types = names.map(async (name) => (await this.stat(`${path}/${name}`))?.type ?? 'file');
        if (names.length === 0) return undefined;
        return (await Promise.all(types)).map((type, index) => ({ name: names[index] ?? '', type }));
      },
      rename: refuse,
      remove: refuse,
    },
    async [Symbol.asyncDispose]() {},
  };
}
