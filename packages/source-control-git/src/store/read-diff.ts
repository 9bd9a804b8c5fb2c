import { type DiffOptions, type FileChange, type ObjectId, type SandboxId } from '@litterbox/core/provider';
import { type ByteString, fromByteString, toByteString } from '../git/byte-text.ts';
import { nulFields } from '../git/nul-fields.ts';
import { readMeta, readTip } from './sandbox-refs.ts';
import type { Store } from './store.ts';

/**
 * A larger file counts as binary: no line of it is compared. Git holds up to eighty bytes for each byte that it compares (measured with git 2.39,
 * 16 MB of empty lines: 1.3 GB), and an agent decides how much that is.
 */
export const MAX_COMPARED_BYTES = 8 * 2 ** 20;

/**
 * So long git may count lines, in milliseconds; then files are told without. Of two files of four megabytes each it takes twenty seconds where they
 * are made for that, and an agent makes as many as it likes.
 */
export const MAX_COUNTING_MS = 30_000;

/** Before the name of a command that compares contents. */
export const BOUNDED = ['-c', `core.bigFileThreshold=${MAX_COMPARED_BYTES}`];

/** Nothing of a tree or a configuration decides how a difference is shown: no program of a configuration runs, and nothing is coloured. */
export const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=none', '--end-of-options'];

const STATUSES: Readonly<Record<string, FileChange['status']>> = {
  A: 'added',
  D: 'deleted',
  T: 'type-changed',
};

/** What one path was in one tree and is in another. */
export interface PathStep {
  readonly path: ByteString;
  readonly old?: { readonly mode: string; readonly oid: ObjectId };
  readonly new?: { readonly mode: string; readonly oid: ObjectId };
}

/** A change while its lines are counted. */
type Counted = { -readonly [Key in keyof FileChange]: FileChange[Key] };

type Trees = readonly [from: ObjectId, to: ObjectId];

export async function* readDiff(
  store: Store,
  id: SandboxId,
  options: DiffOptions | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [from, to] = await treesOf(store, id, options);
  if (from === to) return;
  const context = options?.contextLines === undefined ? [] : [`-U${options.contextLines}`];
  const binary = options?.hasBinary === true ? ['--binary', '--full-index'] : [];
  const args = [
    ...BOUNDED,
    'diff-tree',
    '-r',
    '-p',
    '-M',
    ...context,
    ...binary,
    '--src-prefix=a/',
    '--dst-prefix=b/',
    ...PLAIN,
    from,
    to,
  ];
  for (const paths of pathArguments(options))
    yield* store.stream(asBytes([...args, ...paths]), { signal: options?.signal });
}

export async function readChangedFiles(
  store: Store,
  id: SandboxId,
  options: DiffOptions | undefined,
): Promise<readonly FileChange[]> {
  return compareTrees(store, await treesOf(store, id, options), options);
}

/**
 * The files that differ between two trees of the store, in one pass for as many paths as one command line holds.
 *
 * @param options `onStep` is told of each, before any is counted; without `isCounted` no line is counted, and no content read; none is counted beyond {@link MAX_COUNTING_MS}
 */
export async function compareTrees(
  store: Store,
  [from, to]: Trees,
  options?: Pick<DiffOptions, 'paths' | 'signal'> & {
    readonly onStep?: (step: PathStep) => void;
    readonly isCounted?: boolean;
  },
): Promise<readonly FileChange[]> {
  const changes = new Map<ByteString, Counted>();
  if (from === to) return [];
  const read = async (paths: readonly string[], counted: readonly string[], signal: AbortSignal | undefined) => {
    const plain = ['-r', '-z', '--raw', ...counted, '--no-renames', '--no-abbrev', ...PLAIN, from, to];
    const output = store.stream(asBytes([...BOUNDED, 'diff-tree', ...plain, ...paths]), { signal });
    let raw: ByteString | undefined;
    for await (const fields of nulFields(output)) {
      for (const field of fields) {
        if (raw !== undefined) {
          // One that two of the paths lead to is told once.
          if (!changes.has(field)) changes.set(field, changeOf(raw, field, options?.onStep));
          raw = undefined;
        } else if (field.startsWith(':')) raw = field;
        else count(changes, field);
      }
    }
  };
  for (const paths of pathArguments(options))
    if (
      options?.isCounted === false ||
      !(await isWithin(MAX_COUNTING_MS, options?.signal, (signal) => read(paths, ['--numstat'], signal)))
    )
      await read(paths, [], options?.signal);
  return [...changes.values()];
}

/** Whether it was done within that time, in milliseconds; its failures are the caller's. */
export async function isWithin(
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<unknown>,
): Promise<boolean> {
  const limit = AbortSignal.timeout(limitMs);
  try {
    await work(signal ? AbortSignal.any([signal, limit]) : limit);
    return true;
  } catch (error) {
    if (signal?.aborted || !limit.aborted) throw error;
    return false;
  }
}

/** One line of `--raw` without its path. */
function changeOf(raw: ByteString, path: ByteString, onStep: ((step: PathStep) => void) | undefined): Counted {
  const [oldMode = '', newMode = '', oldOid = '', newOid = '', status = ''] = raw.slice(1).split(' ');
  onStep?.({
    path,
    ...(oldMode === '000000' ? {} : { old: { mode: oldMode, oid: oldOid as ObjectId } }),
    ...(newMode === '000000' ? {} : { new: { mode: newMode, oid: newOid as ObjectId } }),
  });
  const [was, is] = [oldMode === '100755', newMode === '100755'];
  return {
    path: fromByteString(path),
    status: STATUSES[status] ?? 'modified',
    executable: status === 'D' ? was : is,
    ...(status === 'M' && was !== is && { wasExecutable: was }),
    binary: false,
  };
}

/** One line of `--numstat`. */
function count(changes: ReadonlyMap<ByteString, Counted>, line: ByteString): void {
  const [added = '', removed = ''] = line.split('\t', 2);
  const change = changes.get(line.slice(added.length + removed.length + 2));
  if (!change) return;
  if (added === '-') {
    change.binary = true;
    return;
  }
  change.addedLines = Number(added);
  change.removedLines = Number(removed);
}

async function treesOf(store: Store, id: SandboxId, options: DiffOptions | undefined): Promise<Trees> {
  if (options?.revision === undefined) {
    const { base } = await readMeta(store, id);
    const upTo = options?.upTo;
    return [base.tree, upTo === undefined ? (await readTip(store, id)).tree : await store.commitTree(upTo)];
  }
  const { tree, parents, revision } = await store.reader.commit(options.revision);
  if (options.against !== undefined) return [await store.commitTree(options.against), tree];
  const [parent] = parents;
  // The base has nothing before it that a sandbox changed.
  return revision && parent !== undefined ? [await store.commitTree(parent), tree] : [tree, tree];
}

/** `diff-tree` takes paths as arguments alone, and the kernel bounds those: of many, each lot is a run of its own. */
const MAX_PATH_BYTES = 256 * 1024;

function* pathArguments(options: Pick<DiffOptions, 'paths'> | undefined): Generator<readonly string[]> {
  if (!options?.paths) return yield [];
  let lot = ['--'];
  let bytes = 0;
  for (const path of options.paths) {
    const word = path.replace(/\/+$/, '');
    bytes += Buffer.byteLength(word) + 1;
    if (bytes > MAX_PATH_BYTES && lot.length > 1) {
      yield lot;
      lot = ['--'];
      bytes = Buffer.byteLength(word) + 1;
    }
    lot.push(word);
  }
  yield lot;
}

/** Node passes arguments on as UTF-8; a name that is none cannot be an argument and matches nothing. */
function asBytes(args: readonly string[]): readonly string[] {
  return args.map((argument) => Buffer.from(toByteString(argument), 'latin1').toString('utf8'));
}
