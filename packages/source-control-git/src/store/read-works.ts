import { type ObjectId, type RecordedWork, type SandboxId } from '@litterbox/core/provider';
import { nulFields } from '../git/nul-fields.ts';
import { PLAIN } from './read-diff.ts';
import { readHistory, sandboxRefs } from './sandbox-refs.ts';
import type { Store } from './store.ts';

type Changes = Pick<RecordedWork, 'files' | 'addedLines' | 'removedLines'>;

const NOTHING: Changes = { files: 0, addedLines: 0, removedLines: 0 };
/** git begins what it says of each pair of trees with the two, on a line that no NUL ends. Counts of lines are followed by tabs. */
const HEADER = /^([0-9a-f]{40,64} [0-9a-f]{40,64})\n/;

/** What was recorded in sandboxes, with one program for all of them that changed something. Those without a history are left out. */
export async function readWorks(
  store: Store,
  ids: readonly SandboxId[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<SandboxId, RecordedWork>> {
  const works = new Map<SandboxId, RecordedWork>();
  const pairs = new Map<SandboxId, string>();
  for (const id of ids) {
    const refs = sandboxRefs(id);
    const base = store.refs.read(refs.base);
    if (base === undefined || store.refs.read(refs.meta) === undefined) continue;
    if (store.refs.read(refs.tip) === base) {
      works.set(id, { revisions: 0, unmilestoned: 0, ...NOTHING });
      continue;
    }
    const history = await readHistory(store, id).catch(() => undefined); // damaged: the others are told of
    if (!history) continue;
    const { base: began, tip, unmilestoned } = history;
    works.set(id, { revisions: tip.number, unmilestoned, ...NOTHING });
    if (began.tree !== tip.tree) pairs.set(id, pairOf(began.tree, tip.tree));
  }
  const wanted = new Set(pairs.values());
  // One tree that is damaged ends the program: then each is asked for by itself.
  const found = await compareAll(store, wanted, signal).catch(() => undefined);
  for (const [id, pair] of pairs) {
    const alone = found ?? (await compareAll(store, new Set([pair]), signal).catch(() => undefined));
    signal?.throwIfAborted();
    const work = works.get(id);
    if (alone && work) works.set(id, { ...work, ...(alone.get(pair) ?? NOTHING) });
    else works.delete(id);
  }
  return works;
}

const pairOf = (from: ObjectId, to: ObjectId) => `${from} ${to}`;

async function compareAll(
  store: Store,
  pairs: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Changes>> {
  const found = new Map<string, Changes>();
  if (pairs.size === 0) return found;
  const input = [...pairs].map((pair) => `${pair}\n`).join('');
  const args = ['diff-tree', '--stdin', '-r', '-z', '--numstat', '--no-renames', ...PLAIN];
  let pair = '';
  for await (const fields of nulFields(store.stream(args, { input, signal })))
    for (const field of fields) {
      const [header = '', named] = HEADER.exec(field) ?? [];
      pair = named ?? pair;
      const [added = '', removed = ''] = field.slice(header.length).split('\t', 2);
      const { files, addedLines, removedLines } = found.get(pair) ?? NOTHING;
      found.set(pair, {
        files: files + 1,
        // A dash stands for a binary file.
        addedLines: addedLines + (Number(added) || 0),
        removedLines: removedLines + (Number(removed) || 0),
      });
    }
  return found;
}
