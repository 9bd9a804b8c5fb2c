import { randomUUID } from 'node:crypto';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ByteString, bytesOf } from '../git/byte-text.ts';
import type { UserRepository } from './user-repository.ts';
import { lstatOf } from '../git/on-disk.ts';

/** Files that the person told git not to look at, as they do with local settings in a file that git tracks. */
export interface MarkedFiles {
  readonly assumedUnchanged: readonly ByteString[];
  /** Those that are there: in a sparse checkout most are not. */
  readonly skipped: readonly ByteString[];
  /** Those among both whose content is another one than the index has. Neither `git status` nor a stash knows of it. */
  readonly edited: ReadonlySet<ByteString>;
}

/**
 * Finds them. Nothing of the person's changes: the comparison is made in an index of its own.
 *
 * @param records of `ls-files -v -z`: a letter, a blank and a path each
 */
export async function findMarkedFiles(
  user: UserRepository,
  records: readonly string[],
  signal: AbortSignal | undefined,
): Promise<MarkedFiles> {
  const assumedUnchanged: ByteString[] = [];
  const skipped: ByteString[] = [];
  for (const record of records) {
    const [tag = ''] = record;
    const path = record.slice(2);
    if (tag === '' || (tag !== 'S' && tag === tag.toUpperCase())) continue;
    if (!(await lstatOf(user.root, path))) continue;
    // A letter that is small says assume-unchanged; `S` and `s` say skip-worktree.
    if (tag !== tag.toUpperCase()) assumedUnchanged.push(path);
    if (tag.toUpperCase() === 'S') skipped.push(path);
  }
  const marked = [...new Set([...assumedUnchanged, ...skipped])];
  return { assumedUnchanged, skipped, edited: await editedAmong(user, marked, signal) };
}

async function editedAmong(
  user: UserRepository,
  marked: readonly ByteString[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<ByteString>> {
  if (marked.length === 0) return new Set();
  const index = join(user.gitDirectory, `index.litterbox-${randomUUID()}`);
  const options = { setting: 'user', environment: { GIT_INDEX_FILE: index }, signal } as const;
  const input = pathList(marked);
  try {
    await copyFile(join(user.gitDirectory, 'index'), index);
    await user.plumbing.output(['update-index', '--no-assume-unchanged', '-z', '--stdin'], { ...options, input });
    await user.plumbing.output(['update-index', '--no-skip-worktree', '-z', '--stdin'], { ...options, input });
    await user.plumbing.run(['update-index', '-q', '--refresh'], options);
    const differing = await user.plumbing.output(
      ['diff-files', '-z', '--name-only', '--ignore-submodules=all'],
      options,
    );
    const names = new Set(differing.toString('latin1').split('\0'));
    return new Set(marked.filter((path) => names.has(path)));
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

/** Paths as git reads them with `-z --stdin`. */
export const pathList = (paths: readonly ByteString[]): Buffer =>
  Buffer.concat(paths.map((path) => bytesOf(`${path}\0`)));
