import { rmdir, unlink } from 'node:fs/promises';
import { failpoint } from '@litterbox/core/provider';
import { type ByteString, bytesOf } from '../git/byte-text.ts';
import { flushFiles } from './flush-files.ts';
import { filteredAmong, readTreeFilters } from '../person/external-filters.ts';
import { pathList } from '../person/marked-files.ts';
import type { PathStep } from '../store/read-diff.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { lstatOf, onDisk } from '../git/on-disk.ts';
import { ancestorsOf } from '../plan/user-state.ts';

const isAttributes = (path: ByteString) => path === '.gitattributes' || path.endsWith('/.gitattributes');
const isSubmodule = (side: { readonly mode: string } | undefined) => side?.mode === '160000';

/** Lines of `update-index --index-info` that take the index from one side of the steps to the other. */
export function indexInfo(steps: readonly PathStep[], zero: string): Buffer {
  return Buffer.concat(
    steps.map((step) => {
      const { mode, oid } = step.new ?? { mode: '0', oid: zero };
      return bytesOf(`${mode} ${oid}\t${step.path}\0`);
    }),
  );
}

/**
 * Brings the files of the steps to what `index` holds, with the person's own configuration, so that line ends and
 * smudge filters are theirs. Can be repeated. `index` gets the files' times.
 *
 * The program of a filter may lie in the tree. So that no program of an agent's runs, files that go through a filter are written while the
 * tree has the person's: first on the way forward, last on the way back.
 */
export async function updateWorkTree(
  user: UserRepository,
  steps: readonly PathStep[],
  index: string,
  filtered: 'first' | 'last',
  signal: AbortSignal | undefined,
): Promise<void> {
  const written = steps.filter((step) => step.new && !isSubmodule(step.new)).map(({ path }) => path);
  const byFilter = await filteredAmong(user, await readTreeFilters(user, signal), written, index, signal);
  // Attributes before all: they decide how the others are written.
  await write(written.filter(isAttributes));
  if (filtered === 'first') await write(written.filter((path) => byFilter.has(path) && !isAttributes(path)));
  const removed = steps.filter((step) => !step.new && !isSubmodule(step.old)).map(({ path }) => path);
  for (const path of removed) {
    await removeFile(user.root, path);
    failpoint('work-tree.after-removal');
  }
  await write(written.filter((path) => !byFilter.has(path) && !isAttributes(path)));
  if (filtered === 'last') await write(written.filter((path) => byFilter.has(path) && !isAttributes(path)));
  // Before the journal says that they are there.
  await flushFiles(user.root, written);

  async function write(paths: readonly ByteString[]): Promise<void> {
    if (paths.length === 0) return;
    await user.plumbing.output(['checkout-index', '-f', '-u', '-q', '-z', '--stdin'], {
      setting: 'user',
      environment: { GIT_INDEX_FILE: index },
      input: pathList(paths),
      signal,
    });
    failpoint('work-tree.after-writing');
  }
}

/** Removes a file, if it is there, and the directories above that are empty then; never through a link. */
async function removeFile(root: string, path: ByteString): Promise<void> {
  for (const above of [...ancestorsOf(path)].reverse()) {
    const found = await lstatOf(root, above);
    if (!found) break;
    if (!found.isDirectory()) return;
  }
  const found = await lstatOf(root, path);
  if (found?.isDirectory()) return;
  if (found) await unlink(onDisk(root, path));
  for (const above of ancestorsOf(path)) {
    try {
      await rmdir(onDisk(root, above));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return; // something else lives there
    }
  }
}
