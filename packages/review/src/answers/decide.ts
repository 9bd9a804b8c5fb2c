import {
  applyChanges,
  type FilePart,
  LitterboxError,
  mergeChanges,
  type SettledFile,
  visibleName,
} from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

/** A person's yes: to the state that they were shown, by its commit, and to its files that run code where they said so. */
export interface Decision {
  readonly tip: string;
  readonly paths: readonly string[];
  /** Some changes of files, besides the paths; the operation checks them. */
  readonly parts: readonly FilePart[];
  /** Files in conflict as they were settled on the page; the operation checks them. */
  readonly settled: readonly SettledFile[];
  readonly acceptRisky: boolean;
  /** Whether an apply is committed at once, and the words of that commit; without them those of the work. */
  readonly commit: boolean;
  readonly message?: string;
}

const isText = (value: unknown): value is string => typeof value === 'string';

/** @throws LitterboxError `INVALID_ARGUMENT` for a body that is no decision: a yes without a state is none. */
export function decisionOf(body: unknown): Decision {
  const {
    tip,
    paths = [],
    parts = [],
    settled = [],
    acceptRisky = false,
    commit = false,
    message,
  } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const areLists = Array.isArray(paths) && paths.every(isText) && [parts, settled].every(Array.isArray);
  const words = isText(message) ? { message } : {};
  const lists = { parts: parts as FilePart[], settled: settled as SettledFile[] };
  if (isText(tip) && areLists && typeof acceptRisky === 'boolean' && typeof commit === 'boolean')
    return { tip, paths, ...lists, acceptRisky, commit, ...words };
  throw new LitterboxError(
    'INVALID_ARGUMENT',
    'A decision is { tip, paths?, parts?, settled?, acceptRisky?, commit?, message? }.',
    {
      operation: 'review.decide',
      hint: 'Reload the page.',
    },
  );
}

/** Carries a decision out as the command line does, with its refusals: nothing is asked on the way. */
export async function decide(
  litterbox: Performer,
  sandbox: string,
  verb: 'apply' | 'merge',
  { tip, paths, parts, settled, acceptRisky, commit, message }: Decision,
  signal: AbortSignal,
) {
  const yes = { sandbox, tip, acceptRisky, ...(settled.length > 0 && { settled }) };
  const some = { paths, ...(parts.length > 0 && { parts }) };
  const committed = commit ? { commit, ...(message !== undefined && { message }) } : {};
  const result =
    verb === 'merge'
      ? await litterbox.perform(mergeChanges, yes, { signal })
      : await litterbox.perform(applyChanges, { ...yes, ...some, ...committed }, { signal });
  return {
    outcome: result.outcome,
    commit: result.commit,
    isDeleted: result.isDeleted,
    conflicts: result.conflicts.slice(0, 100).map((path) => visibleName(path)),
  };
}
