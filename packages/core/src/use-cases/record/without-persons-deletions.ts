import type { ChangedPath, DirectoryChild } from '../../domain/paths/changed-path.ts';
import type { WorkTreeDrift } from '../../ports/source-control/persons-repository.ts';

/**
 * A scan's changes without deletions that are the person's: a name that they took away from below a directory is missing in it, and
 * nobody inside took it away. Directories come last, when all that the scan looks at was looked at, so that nothing can go between the two.
 *
 * @param look asked once, after everything but directories
 */
export async function* withoutPersonsDeletions(
  changes: AsyncIterable<ChangedPath>,
  look: () => Promise<WorkTreeDrift | undefined>,
): AsyncGenerator<ChangedPath, void, undefined> {
  const directories: Extract<ChangedPath, { type: 'directory' }>[] = [];
  for await (const change of changes) {
    if (change.type === 'directory') directories.push(change);
    else yield change;
  }
  const gone = namesByDirectory((await look())?.gone ?? []);
  for (const directory of directories) {
    const names = gone.get(directory.path);
    yield names
      ? { ...directory, children: [...directory.children.filter(({ name }) => !names.has(name)), ...names.values()] }
      : directory;
  }
}

/** The names that each directory lost: of files that are gone, and of the directories that lead to them. */
function namesByDirectory(gone: WorkTreeDrift['gone']): ReadonlyMap<string, ReadonlyMap<string, DirectoryChild>> {
  const found = new Map<string, Map<string, DirectoryChild>>();
  for (const { path, type } of gone) {
    let above = '';
    const names = path.split('/');
    for (const [index, name] of names.entries()) {
      const children = found.get(above) ?? new Map<string, DirectoryChild>();
      found.set(above, children);
      children.set(name, { name, type: index + 1 === names.length ? type : 'directory' });
      above = above === '' ? name : `${above}/${name}`;
    }
  }
  return found;
}
