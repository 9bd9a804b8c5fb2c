import { type ByteString, bytesOf } from '../git/byte-text.ts';
import { lstatOf } from '../git/on-disk.ts';
import type { PathStep } from '../store/read-diff.ts';
import { readTreeFilters, withoutFilters } from './external-filters.ts';
import type { UserRepository } from './user-repository.ts';

/** One tracked file that differs from HEAD, from `status --porcelain=v2`. */
export interface ChangedEntry {
  readonly path: ByteString;
  /** Whether the work tree has what the index has. */
  readonly isAsStaged: boolean;
  /** The mode in the index: `000000` where it has no such file. */
  readonly mode: string;
  readonly oid: string;
}

/** Reads one record; undefined for what is no changed file. */
function parseChangedEntry(record: string): ChangedEntry | undefined {
  const fields = record.split(' ');
  const width = record.startsWith('1 ') ? 8 : record.startsWith('u ') ? 10 : undefined;
  if (width === undefined) return undefined;
  const [, states = '', , , mode = '', , , oid = ''] = fields;
  const isAsStaged = width === 8 && states[1] === '.';
  return { path: fields.slice(width).join(' '), isAsStaged, mode, oid };
}

/** Tracked files that differ from the last commit. */
export async function readChangedEntries(
  user: UserRepository,
  signal: AbortSignal | undefined,
): Promise<readonly ChangedEntry[]> {
  const args = ['status', '--porcelain=v2', '-z', '--untracked-files=no', '--no-renames', '--ignore-submodules=all'];
  const status = await user.output(args, { setting: 'user', signal });
  return status
    .toString('latin1')
    .split('\0')
    .flatMap((record) => parseChangedEntry(record) ?? []);
}

/** Those of the steps that index and work tree of the person have both made already. */
export async function findStagedAlready(
  user: UserRepository,
  steps: ReadonlyMap<ByteString, PathStep>,
  entries: readonly ChangedEntry[],
): Promise<ReadonlySet<ByteString>> {
  const found = new Set<ByteString>();
  for (const { path, isAsStaged, mode, oid } of entries) {
    const step = steps.get(path);
    if (!step || !isAsStaged) continue;
    const isSame = step.new ? step.new.mode === mode && step.new.oid === oid : mode === '000000';
    if (isSame && (step.new || !(await lstatOf(user.root, path)))) found.add(path);
  }
  return found;
}

/**
 * Those of the steps whose file the work tree has already exactly so, whatever the index has: ordinary files by what git would store of
 * them, and files that are gone. No program of a filter runs that may lie in the tree.
 */
export async function findLooseAlready(
  user: UserRepository,
  steps: readonly PathStep[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<ByteString>> {
  const found = new Set<ByteString>();
  const asked: { readonly path: ByteString; readonly oid: string }[] = [];
  for (const { path, new: next } of steps) {
    const is = await lstatOf(user.root, path);
    if (!is && !next) found.add(path);
    const isPlainName = !path.startsWith('"') && !path.includes('\n'); // git reads names by the line
    if (!is?.isFile() || !next || !isPlainName) continue;
    if (next.mode === ((is.mode & 0o100) === 0 ? '100644' : '100755')) asked.push({ path, oid: next.oid });
  }
  if (asked.length === 0) return found;
  const filters = withoutFilters(await readTreeFilters(user, signal));
  const input = bytesOf(asked.map(({ path }) => `${path}\n`).join(''));
  const options = { setting: 'user', input, signal } as const;
  const { code, stdout } = await user.plumbing.run([...filters, 'hash-object', '--stdin-paths'], options);
  if (code !== 0) return found; // a file went away meanwhile
  const oids = stdout.toString().split('\n');
  asked.forEach(({ path, oid }, at) => void (oids[at] === oid && found.add(path)));
  return found;
}
