import { start } from '@litterbox/mcp/start';
import type { Perform } from '../perform.ts';

/** `litterbox mcp` and `serve` with options of the whole command line before the verb; without them `bin.ts` starts them itself. */
const starting =
  (verb: 'mcp' | 'serve'): Perform =>
  async ({ directory }, _words, flags) => {
    const given = Object.entries(flags).flatMap(([name, value]) => {
      const word = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
      if (typeof value === 'string') return [word, value];
      return name === 'share' && value === true ? [word] : [];
    });
    await start(verb, ['--repo', directory, ...given]);
  };

export const mcp = starting('mcp');

/** With `--e2b` for programs, which delete what they made; otherwise for agents, which cannot. */
export const serve: Perform = async (context, words, flags) => {
  const perform = flags['e2b'] === true ? (await import('../serve-e2b.ts')).serveE2b : starting('serve');
  await perform(context, words, flags);
};
