import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The vocabulary that is counted in. Nobody publishes one for Claude's models; texts like these differ by some percent. */
export const ENCODING = 'o200k_base';

export type TokenCounter = (text: string) => number;

/** Counts with gpt-tokenizer of an install. */
export function tokenCounter(install: string): TokenCounter {
  const { countTokens } = createRequire(join(install, 'package.json'))(`gpt-tokenizer/encoding/${ENCODING}`) as {
    countTokens(text: string, options: object): number;
  };
  return (text) => countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
}
