import { encodeRaw } from '@litterbox/core/provider';

/** An entry of a plan of the session program: its name and its arguments, none of them with a NUL. */
export type PlanEntry = readonly [name: string, ...words: string[]];

/** A step that is rare and needs other programs. The text calls a function `fail` with what the session then fails with. */
export const shellStep = (text: string): PlanEntry => ['shell', `fail() { printf %s "$1" >&2; exit 1; }\n${text}`];

/** A plan as the session program reads it: each entry is its name, the number of its arguments and these, each with a NUL behind it. */
export function encodePlan(entries: readonly PlanEntry[]): Uint8Array {
  return encodeRaw(
    entries.flatMap(([name, ...words]) => [name, `${words.length}`, ...words].map((word) => `${word}\0`)).join(''),
  );
}
