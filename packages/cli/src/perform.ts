import type { Context } from './context.ts';

/** Carries out a command: its words in order, and its options by name. */
export type Perform = (
  context: Context,
  words: readonly (string | undefined)[],
  flags: Readonly<Record<string, unknown>>,
) => Promise<void>;
