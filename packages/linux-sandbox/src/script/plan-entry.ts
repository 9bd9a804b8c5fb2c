import { encodeRaw } from '@litterbox/core/provider';

/** An entry of a plan of the session program: its name and its arguments, none of them with a NUL. */
export type PlanEntry = readonly [name: string, ...words: string[]];

/** The words of a plan: each entry is its name, the number of its arguments and these. */
export const planWords = (entries: readonly PlanEntry[]): readonly string[] =>
  entries.flatMap(([name, ...words]) => [name, `${words.length}`, ...words]);

/** A plan as the session program reads it: words with a NUL behind each. */
export const encodePlan = (entries: readonly PlanEntry[]): Uint8Array =>
  encodeRaw(
    planWords(entries)
      .map((word) => `${word}\0`)
      .join(''),
  );
