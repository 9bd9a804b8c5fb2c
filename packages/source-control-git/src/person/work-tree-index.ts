import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectId } from '@litterbox/core/provider';
import { copyIndex } from './copy-index.ts';
import type { GitCall } from '../git/run-git.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from './user-repository.ts';

/** A private index that holds the work tree as it is now. */
export interface WorkTreeIndex extends AsyncDisposable {
  readonly tree: ObjectId;
  /** The one of the given indexes that it began with. */
  readonly from?: string;
  /** By them git works with this index, and with objects that the store has. */
  readonly options: Partial<GitCall>;
  /** Keeps the index, for the next look at the same work tree. */
  keep(path: string): Promise<void>;
}

interface Call {
  readonly signal?: AbortSignal | undefined;
}

/**
 * The work tree as a tree: tracked files and new ones that are not ignored. The person's own clean filters run, as they do in their own
 * `git add`. Repositories inside are left alone: nothing is run in them.
 *
 * @param from absolute paths of indexes to begin with, the first that is there; without one it begins with `head`
 */
export async function indexWorkTree(
  user: UserRepository,
  store: Store,
  head: ObjectId,
  from: readonly string[],
  call: Call,
): Promise<WorkTreeIndex> {
  await mkdir(store.workDirectory, { recursive: true, mode: 0o700 });
  const index = join(store.workDirectory, `index-${process.pid}-${randomBytes(6).toString('hex')}`);
  const environment = { GIT_INDEX_FILE: index, GIT_OBJECT_DIRECTORY: join(store.gitDirectory, 'objects') };
  const options = { setting: 'user', environment, ...call } as const;
  const remove = async () => {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  };
  try {
    const begun = await copyIndex(from, index);
    if (begun === undefined) await user.plumbing.output(['read-tree', head], options);
    const listed = await listUnlike(user, options);
    const submodules = await gitlinks(user, options);
    const { gone, there } = splitUnlike(listed);
    const update = async (how: readonly string[], paths: readonly string[]) => {
      const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1');
      if (paths.length > 0)
        await user.plumbing.output(['update-index', '-z', ...how, '--stdin'], { ...options, input });
    };
    // First and by name alone: one may lie below what is a link by now.
    const isOwn = (name: string) => !submodules.has(name);
    await update(['--force-remove'], [...gone].filter(isOwn));
    await update(['--add', '--remove'], [...there].filter(isOwn));
    const tree = (await user.plumbing.text(['write-tree'], options)) as ObjectId;
    return {
      tree,
      ...(begun !== undefined && { from: begun }),
      options,
      keep: async (path) => await rename(index, path),
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Files that are others than an index says, by what the file system tells of them: a letter, a blank and the name, as `git ls-files -t` has it.
 * The person's own rules of what is ignored count.
 */
export async function listUnlike(user: UserRepository, options: Partial<GitCall>): Promise<readonly string[]> {
  const names = ['ls-files', '-z', '-t', '--modified', '--deleted', '--others', '--exclude-standard'];
  const listed = (await user.plumbing.output(names, options)).toString('latin1').split('\0');
  // A name that ends in a slash is a repository inside this one.
  return listed.filter((line) => line !== '' && !line.endsWith('/'));
}

/** Names of {@link listUnlike}: those that are no file any more, because they were removed or are directories by now, and the others. */
export function splitUnlike(lines: readonly string[]): {
  readonly gone: ReadonlySet<string>;
  readonly there: ReadonlySet<string>;
} {
  const [gone, there] = [new Set<string>(), new Set<string>()];
  for (const line of lines) (line.startsWith('R') ? gone : there).add(line.slice(2));
  // What was removed is told twice, as changed too.
  for (const name of gone) there.delete(name);
  for (const name of there)
    for (let end = name.lastIndexOf('/'); end > 0; end = name.lastIndexOf('/', end - 1))
      if (there.has(name.slice(0, end))) gone.add(name.slice(0, end));
  for (const name of gone) there.delete(name);
  return { gone, there };
}

async function gitlinks(user: UserRepository, options: object): Promise<ReadonlySet<string>> {
  const staged = (await user.plumbing.output(['ls-files', '-z', '--stage'], options)).toString('latin1');
  return new Set([...staged.matchAll(/160000 [0-9a-f]+ \d\t([^\0]*)\0/g)].map((match) => match[1] ?? ''));
}
