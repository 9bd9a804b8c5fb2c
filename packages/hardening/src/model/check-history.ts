import type { Call, Chain, History } from './history.ts';

/**
 * Errors that say that nothing was done. A pause or stop may fall between a command and its recording: what it wrote is then found by
 * the next call, once.
 */
const WITHOUT_EFFECT = new Set([
  'SANDBOX_NOT_FOUND',
  'SANDBOX_EXISTS',
  'SANDBOX_BUSY',
  'SANDBOX_ACTIVE',
  'SANDBOX_DELETING',
  'BUSY',
]);
const USUAL: readonly string[] = [...WITHOUT_EFFECT, 'SANDBOX_PAUSED', 'SANDBOX_STOPPED'];
/** Errors that calls on a busy repository with killed neighbours may end with; any other is a finding. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  list: [],
  reconcile: ['BUSY'],
  read: [...USUAL, 'NOT_FOUND'],
  apply: [
    ...WITHOUT_EFFECT,
    'NOT_FOUND',
    'HEAD_MOVED',
    'MERGE_IN_PROGRESS',
    'DIRTY_WORKTREE',
    'NOTHING_TO_DO',
    'CONFLICT',
    'CHANGED_SINCE_SHOWN',
  ],
  merge: [
    ...WITHOUT_EFFECT,
    'NOT_FOUND',
    'HEAD_MOVED',
    'MERGE_IN_PROGRESS',
    'DIRTY_WORKTREE',
    'NOTHING_TO_DO',
    'CONFLICT',
    'CHANGED_SINCE_SHOWN',
  ],
};
const CHANGES_USER = new Set(['apply', 'merge', 'reconcile', 'user']);

/** What is wrong with a history, in sentences; none when nothing is. */
export function checkHistory(history: History): readonly string[] {
  return [
    ...checkChains(history),
    ...checkAcknowledged(history),
    ...checkTokens(history),
    ...checkReads(history),
    ...checkUser(history),
    ...checkMerges(history),
    ...checkErrors(history),
  ];
}

const isWrite = ({ operation, value }: Call) => operation === 'write' && value !== undefined;

/** Each history is one line, counted from one, and no revision is in two. */
function checkChains({ chains }: History): string[] {
  const problems: string[] = [];
  const seen = new Map<string, string>();
  for (const { id, revisions } of chains) {
    revisions.forEach(({ commit, number }, index) => {
      if (number !== index + 1) problems.push(`revision ${index + 1} of ${id} has the number ${number}`);
      if (seen.has(commit)) problems.push(`${commit} is in ${id} and in ${seen.get(commit)}`);
      seen.set(commit, id);
    });
  }
  return problems;
}

interface Place {
  readonly chain: Chain;
  readonly number: number;
}

function placesOf(chains: readonly Chain[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const chain of chains) for (const { commit, number } of chain.revisions) places.set(commit, { chain, number });
  return places;
}

/** What was answered is there with what was written, in the order of real time. */
function checkAcknowledged({ calls, chains }: History): string[] {
  const problems: string[] = [];
  const places = placesOf(chains);
  const found: { readonly call: Call; readonly place: Place }[] = [];
  for (const call of calls.filter((one) => isWrite(one) && one.outcome === 'ok')) {
    const place = call.commit === undefined ? undefined : places.get(call.commit);
    if (!place) {
      problems.push(`${call.value} was acknowledged as ${call.commit ?? 'nothing'} and is lost`);
      continue;
    }
    const { files } = place.chain.revisions[place.number - 1] ?? {};
    if (files?.[call.path ?? ''] !== call.value)
      problems.push(`${call.commit} was acknowledged for ${call.value} and holds ${files?.[call.path ?? '']}`);
    found.push({ call, place });
  }
  for (const { id } of chains) {
    const members = found.filter(({ place }) => place.chain.id === id);
    members.sort((a, b) => a.place.number - b.place.number);
    let latest: Call | undefined;
    for (const { call } of members) {
      if (latest && (call.returnedMs ?? Infinity) < latest.invokedMs)
        problems.push(`${call.value} ended before ${latest.value} began and comes after it in ${id}`);
      if (!latest || call.invokedMs > latest.invokedMs) latest = call;
    }
  }
  return problems;
}

/** A value that was refused is nowhere; any other was recorded once at most. */
function checkTokens({ calls, chains }: History): string[] {
  const times = new Map<string, number>();
  for (const { base, revisions } of chains) {
    let before = base;
    for (const { files } of revisions) {
      for (const [path, value] of Object.entries(files))
        if (before[path] !== value) times.set(value, (times.get(value) ?? 0) + 1);
      before = files;
    }
  }
  const problems: string[] = [];
  for (const call of calls.filter(isWrite)) {
    const recorded = times.get(call.value ?? '') ?? 0;
    if (call.outcome === 'error' && WITHOUT_EFFECT.has(call.code ?? '') && recorded > 0)
      problems.push(`${call.value} was refused with ${call.code} and recorded all the same`);
    if (recorded > 1) problems.push(`${call.value} was recorded ${recorded} times`);
  }
  return problems;
}

/** A read gives a value that was written, and not one that another had replaced before the read began. */
function checkReads({ calls, chains }: History): string[] {
  const problems: string[] = [];
  const places = placesOf(chains);
  const chainOf = ({ commit }: Call) => (commit === undefined ? undefined : places.get(commit)?.chain);
  const writes = new Map(calls.filter(isWrite).map((call) => [call.value, call]));
  for (const read of calls) {
    if (read.operation !== 'read' || read.outcome !== 'ok' || read.value === undefined || read.value === '') continue;
    const write = writes.get(read.value);
    if (!write || write.path !== read.path) {
      problems.push(`a read of ${read.path} gave ${JSON.stringify(read.value)}, which nobody wrote there`);
      continue;
    }
    if (write.invokedMs > (read.returnedMs ?? Infinity)) problems.push(`${read.value} was read before it was written`);
    const chain = chains.find(({ id }) => id === read.id);
    if (!chain) continue; // it is not known which sandbox of that name was read
    const own = chainOf(write);
    // Of another sandbox of that name, or not answered: then it is the base's, or its time is not known.
    if (own !== chain && own !== undefined && chain.base[write.path ?? ''] !== read.value)
      problems.push(`a read in ${chain.id} gave ${read.value} of ${own.id}`);
    const sinceMs = own === chain ? (write.returnedMs ?? Infinity) : own ? -Infinity : Infinity;
    for (const other of writes.values()) {
      const isNewer =
        other !== write &&
        other.path === write.path &&
        other.outcome === 'ok' &&
        chainOf(other) === chain &&
        other.invokedMs > sinceMs &&
        (other.returnedMs ?? Infinity) < read.invokedMs;
      if (isNewer) problems.push(`a read of ${read.path} gave ${read.value}, which ${other.value} had replaced`);
    }
  }
  return problems;
}

/** The user's repository changes while somebody changes it, and at no other time. */
function checkUser({ calls, samples }: History): string[] {
  const windows = calls
    .filter(({ operation }) => CHANGES_USER.has(operation))
    .map((call) => ({
      from: call.invokedMs,
      to: call.outcome === 'unknown' ? settledAfter(call, calls) : call.returnedMs,
    }));
  const problems: string[] = [];
  samples.forEach((sample, index) => {
    const before = samples[index - 1];
    if (!before || before.digest === sample.digest) return;
    const isExplained = windows.some(({ from, to = Infinity }) => from < sample.atMs && to > before.atMs);
    if (!isExplained)
      problems.push(
        `the user's repository changed between ${before.atMs} and ${sample.atMs} without an apply or merge`,
      );
  });
  return problems;
}

/** What a killed apply or merge left is settled by the first reconcile after it that was answered. */
function settledAfter(call: Call, calls: readonly Call[]): number | undefined {
  const ends = calls
    .filter((one) => one.operation === 'reconcile' && one.outcome === 'ok' && one.invokedMs > call.invokedMs)
    .map(({ returnedMs }) => returnedMs ?? Infinity);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** What was acknowledged before an acknowledged merge began is in the user's branch. */
function checkMerges({ calls, chains, merged }: History): string[] {
  const problems: string[] = [];
  const places = placesOf(chains);
  for (const merge of calls.filter(({ operation, outcome }) => operation === 'merge' && outcome === 'ok')) {
    const chain = chains.find(({ id }) => id === merge.id);
    if (!chain) continue;
    const last = new Map<string, { readonly number: number; readonly value: string }>();
    for (const call of calls.filter((one) => isWrite(one) && one.outcome === 'ok')) {
      const place = places.get(call.commit ?? '');
      if (place?.chain !== chain || (call.returnedMs ?? Infinity) > merge.invokedMs) continue;
      if (place.number > (last.get(call.path ?? '')?.number ?? 0))
        last.set(call.path ?? '', { number: place.number, value: call.value ?? '' });
    }
    const tip = chain.revisions.at(-1)?.files ?? {};
    for (const [path, { value }] of last)
      if (tip[path] === value && !merged.has(value))
        problems.push(`${value} was merged and is not in the user's branch`);
  }
  return problems;
}

function checkErrors({ calls }: History): string[] {
  return calls
    .filter(
      ({ operation, outcome, code }) => outcome === 'error' && !(EXPECTED[operation] ?? USUAL).includes(code ?? ''),
    )
    .map(({ operation, sandbox, code, message }) => `${operation} of ${sandbox} failed with ${code}: ${message ?? ''}`);
}
