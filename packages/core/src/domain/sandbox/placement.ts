import type { MachineLoad } from './machine-load.ts';

/**
 * What became of one machine that a sandbox could have been made on. `chosen`: it was made there. `spare`: another one came first.
 * `too-small`: it lacks the memory that was asked for. `unusable`: no provider works there. `silent`: it said nothing of use in time.
 */
export type HostVerdict = 'chosen' | 'spare' | 'too-small' | 'unusable' | 'silent';

/** One machine that a sandbox could have been made on. */
export interface PlacedHost {
  readonly host: string;
  readonly verdict: HostVerdict;
  /** What it said of itself. Absent when it said nothing. */
  readonly load?: MachineLoad;
  /** The limits of memory of the sandboxes there that this user knows of, together. */
  readonly promisedBytes?: number;
  /** Why it is `unusable` or `silent`, in words of the machine or of whoever asked it: hostile text. */
  readonly reason?: string;
}

/** Why a sandbox is on the machine that it is on: all machines that were named, the best first. Kept with the sandbox. */
export interface Placement {
  /** The limit of memory of the sandbox, by which machines were compared. */
  readonly memoryBytes: number;
  /** Whether somebody asked for that much, so that a machine with less was out of the question. */
  readonly isAsked: boolean;
  readonly hosts: readonly PlacedHost[];
}

/** What a machine answered, or why it did not. */
export type HostAnswer =
  | { readonly host: string; readonly load: MachineLoad; readonly promisedBytes: number }
  | { readonly host: string; readonly silence: string };

/** Longest reason that is kept, in characters. */
const MAX_REASON_CHARACTERS = 300;
/** Two machines that are nearer to each other than this are equally far. */
const FAR_STEP_MS = 10;

/**
 * Orders machines for a sandbox, the best first. The order depends on the arguments alone:
 *
 * 1. Those that have the memory that somebody asked for, before those that lack it.
 * 2. Then by room: how many sandboxes of that size the spare memory holds, with the memory divided by one more than the load of a processor.
 *    Spare is the lesser of what is available now and what the limits of the sandboxes there leave of the whole.
 * 3. Then the nearer one, in steps of 10 ms.
 * 4. Then the one that was named first.
 *
 * Limits of others put a machine behind, and never out of the question: most sandboxes stay far below theirs.
 *
 * @param answers in the order in which the machines were named
 */
export function rankHosts(
  answers: readonly HostAnswer[],
  need: Pick<Placement, 'memoryBytes' | 'isAsked'>,
): readonly PlacedHost[] {
  const ranked = answers.map((answer) => ({ placed: placedHost(answer, need), order: orderOf(answer, need) }));
  ranked.sort((left, right) => {
    const at = left.order.findIndex((value, index) => value !== right.order[index]);
    return at < 0 ? 0 : (left.order[at] ?? 0) - (right.order[at] ?? 0); // a stable sort keeps the order of names
  });
  return ranked.map(({ placed }) => placed);
}

function placedHost(
  answer: HostAnswer,
  { memoryBytes, isAsked }: { memoryBytes: number; isAsked: boolean },
): PlacedHost {
  const { host } = answer;
  if ('silence' in answer) return { host, verdict: 'silent', reason: cut(answer.silence) };
  const { load, promisedBytes } = answer;
  return { host, verdict: isAsked && load.availableBytes < memoryBytes ? 'too-small' : 'spare', load, promisedBytes };
}

/** The same machine with what became of it. */
export function withVerdict(host: PlacedHost, verdict: HostVerdict, reason?: string): PlacedHost {
  return { ...host, verdict, ...(reason !== undefined && { reason: cut(reason) }) };
}

const cut = (text: string): string =>
  text.length <= MAX_REASON_CHARACTERS ? text : `${text.slice(0, MAX_REASON_CHARACTERS - 1)}…`;

/** Smaller is better, from left to right. */
function orderOf(
  answer: HostAnswer,
  { memoryBytes, isAsked }: { memoryBytes: number; isAsked: boolean },
): readonly number[] {
  if ('silence' in answer) return [2, 0, 0];
  const { load, promisedBytes } = answer;
  const lacks = isAsked && load.availableBytes < memoryBytes ? 1 : 0;
  return [lacks, -roomOf(load, promisedBytes, memoryBytes), Math.floor(load.roundTripMs / FAR_STEP_MS)];
}

/** Whole sandboxes of that size; below 0 where more is promised than there is. */
function roomOf(load: MachineLoad, promisedBytes: number, memoryBytes: number): number {
  const spare = Math.min(load.availableBytes, load.memoryBytes - promisedBytes);
  return Math.floor((spare > 0 ? spare / (1 + load.load / load.processors) : spare) / memoryBytes);
}
