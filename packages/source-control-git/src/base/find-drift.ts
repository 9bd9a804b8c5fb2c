import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LitterboxError, type ObjectId, shown, type WorkTreeDrift } from '@litterbox/core/provider';
import { fromByteString } from '../git/byte-text.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { indexWorkTree, listUnlike } from '../person/work-tree-index.ts';

const MAX_TOLD = 100;
const NONE: WorkTreeDrift = { total: 0, paths: [], gone: [] };

interface Call {
  readonly signal?: AbortSignal | undefined;
}

/**
 * How the work tree differs from a tree that was made of it. The index by which that was found the last time is kept: with it git reads
 * those files alone whose times or sizes are others.
 */
export async function findDrift(
  user: UserRepository,
  store: Store,
  tree: ObjectId,
  call: Call,
): Promise<WorkTreeDrift> {
  const kept = join(store.workDirectory, `live-${tree}.index`);
  if (await isUnchanged(user, kept, call)) return NONE;
  const own = join(user.gitDirectory, 'index');
  await using index = await indexWorkTree(user, store, tree, [kept, own], call);
  if (index.from !== kept) await assertLooksAtAll(user, index.options);
  if (index.tree === tree) {
    // An index of another state would hold no entry for what is gone, and the rules of what is ignored would hide it when it is back.
    await index.keep(kept);
    return NONE;
  }
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', tree, index.tree];
  const fields = (await user.plumbing.output(args, index.options)).toString('latin1').split('\0');
  const paths: string[] = [];
  const gone: { path: string; type: 'file' | 'symlink' }[] = [];
  // `:MODE MODE ID ID LETTER`, then the path.
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const path = fromByteString(fields[at + 1] ?? '');
    const [before = '', , , , letter] = (fields[at] ?? '').slice(1).split(' ');
    paths.push(path);
    if (letter === 'D' && before !== '160000') gone.push({ path, type: before === '120000' ? 'symlink' : 'file' });
  }
  return { total: paths.length, paths: paths.slice(0, MAX_TOLD), gone };
}

/** Whether no file has other times or another size than an index says; false also where there is no such index. Most looks end here. */
async function isUnchanged(user: UserRepository, index: string, call: Call): Promise<boolean> {
  if (!existsSync(index)) return false;
  const listed = await listUnlike(user, { setting: 'user', environment: { GIT_INDEX_FILE: index }, ...call });
  return listed.length === 0;
}

/** @throws LitterboxError `UNSUPPORTED` for entries whose files git was told not to look at. */
async function assertLooksAtAll(user: UserRepository, options: object): Promise<void> {
  const listed = (await user.plumbing.output(['ls-files', '-v', '-z'], options)).toString('latin1').split('\0');
  // `S`: skip-worktree; a letter in lower case: assume-unchanged.
  const unseen = listed.filter((line) => /^(?:S|[a-z]) /.test(line)).map((line) => fromByteString(line.slice(2)));
  if (unseen.length === 0) return;
  throw new LitterboxError(
    'UNSUPPORTED',
    `git does not look at ${unseen.length} files of the working tree, such as ${shown(unseen[0])}, so it would not notice their changes.`,
    {
      operation: 'work-tree.compare',
      hint: 'Leave the sparse checkout, undo git update-index --assume-unchanged, or stand on a frozen tree.',
    },
  );
}
