import { join } from 'node:path';
import { type ObjectId, type RecordedWork, type SandboxHistory, type SandboxId } from '@litterbox/core/provider';
import { nulFields } from '../git/nul-fields.ts';
import { KeptAnswers } from './kept-answers.ts';
import { BOUNDED, isWithin, MAX_COUNTING_MS, PLAIN } from './read-diff.ts';
import { milestoneNumbers, readHistory, sandboxRefs } from './sandbox-refs.ts';
import type { Store } from './store.ts';

type Changes = Pick<RecordedWork, 'files' | 'addedLines' | 'removedLines'>;

const NOTHING: Changes = { files: 0, addedLines: 0, removedLines: 0 };
/** git begins what it says of each pair of trees with the two, on a line that no NUL ends. Counts of lines are followed by tabs. */
const HEADER = /^([0-9a-f]{40,64} [0-9a-f]{40,64})\n/;

/** Number of the newest revision, and what it changed. By {@link nameOf}. */
type Kept = readonly [revisions: number, files: number, addedLines: number, removedLines: number];

const keptWorks = ({ directory }: Pick<Store, 'directory'>) =>
  new KeptAnswers<Kept>(join(directory, 'works.json'), 'diff-tree');

/** What was recorded in sandboxes, with one program for all of them that changed something since this was asked last. Those without a history are left out. */
export async function readWorks(
  store: Store,
  ids: readonly SandboxId[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<SandboxId, RecordedWork>> {
  const kept = keptWorks(store);
  const { works, unknown } = knownWorks(store, ids, kept);
  const pairs = new Map<SandboxId, string>();
  const histories = new Map<SandboxId, SandboxHistory>();
  for (const id of unknown) {
    const history = await readHistory(store, id).catch(() => undefined); // damaged: the others are told of
    if (!history) continue;
    histories.set(id, history);
    const { base, tip } = history;
    if (base.tree !== tip.tree) pairs.set(id, pairOf(base.tree, tip.tree));
  }
  const wanted = new Set(pairs.values());
  // One tree that is damaged ends the program: then each is asked for by itself.
  const found = await compareWithin(MAX_COUNTING_MS, store, wanted, signal);
  for (const [id, { base, tip, unmilestoned }] of histories) {
    const pair = pairs.get(id);
    const alone =
      pair === undefined
        ? new Map<string, Changes>()
        : (found ?? (await compareWithin(MAX_ALONE_MS, store, new Set([pair]), signal)));
    signal?.throwIfAborted();
    if (!alone) continue;
    const { files, addedLines, removedLines } = alone.get(pair ?? '') ?? NOTHING;
    works.set(id, { revisions: tip.number, unmilestoned, files, addedLines, removedLines });
    kept.set(nameOf(id, base.commit, tip.commit), [tip.number, files, addedLines, removedLines]);
  }
  await kept.save().catch(() => {}); // a full disk: they are asked for again
  return works;
}

/** The same of those about which git was asked before, by files alone. */
export function knownWorks(
  store: Pick<Store, 'refs' | 'directory'>,
  ids: readonly SandboxId[],
  kept = keptWorks(store),
): { readonly works: Map<SandboxId, RecordedWork>; readonly unknown: readonly SandboxId[] } {
  const works = new Map<SandboxId, RecordedWork>();
  const unknown: SandboxId[] = [];
  for (const id of ids) {
    const refs = sandboxRefs(id);
    const [base, tip] = [store.refs.read(refs.base), store.refs.read(refs.tip)];
    if (base === undefined || store.refs.read(refs.meta) === undefined) continue;
    if (tip === base) {
      works.set(id, { revisions: 0, unmilestoned: 0, ...NOTHING });
      continue;
    }
    const known = tip && kept.get(nameOf(id, base, tip));
    if (!known) {
      unknown.push(id);
      continue;
    }
    const [revisions, files, addedLines, removedLines] = known;
    const milestoned = milestoneNumbers(store.refs, id).at(-1) ?? 0;
    works.set(id, { revisions, unmilestoned: revisions - milestoned, files, addedLines, removedLines });
  }
  return { works, unknown };
}

/** So long git may count the lines of one sandbox, in milliseconds, where all together took too long: of that one nothing is told. */
const MAX_ALONE_MS = 5000;

const nameOf = (id: SandboxId, base: ObjectId, tip: ObjectId) => `${id} ${base} ${tip}`;
const pairOf = (from: ObjectId, to: ObjectId) => `${from} ${to}`;

/** Nothing where git fails, or takes longer. */
async function compareWithin(
  limitMs: number,
  store: Store,
  pairs: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Changes> | undefined> {
  let found: ReadonlyMap<string, Changes> | undefined;
  const compare = async (limited: AbortSignal) => (found = await compareAll(store, pairs, limited));
  await isWithin(limitMs, signal, compare).catch(() => false);
  return found;
}

async function compareAll(
  store: Store,
  pairs: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Changes>> {
  const found = new Map<string, Changes>();
  if (pairs.size === 0) return found;
  const input = [...pairs].map((pair) => `${pair}\n`).join('');
  const args = [...BOUNDED, 'diff-tree', '--stdin', '-r', '-z', '--numstat', '--no-renames', ...PLAIN];
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
