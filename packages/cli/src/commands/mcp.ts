import { start } from '@litterbox/mcp/start';
import type { Perform } from '../perform.ts';

/** `litterbox mcp` with options of the whole command line before the verb; without them `bin.ts` starts it by itself. */
export const mcp: Perform = async ({ directory }, _words, flags) => {
  const given = Object.entries(flags).flatMap(([name, value]) =>
    typeof value === 'string' ? [`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, value] : [],
  );
  await start(['--repo', directory, ...given]);
};
