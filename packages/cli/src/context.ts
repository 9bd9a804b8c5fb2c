import { visible } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';
import { askOrCancel } from './terminal/ask.ts';
import { loadLitterbox } from './load-litterbox.ts';
import type { Talk } from './terminal/talk.ts';

/** What every command gets. */
export interface Context {
  readonly talk: Talk;
  readonly signal: AbortSignal;
  /** What `--repo` names: a directory, in a repository or not. */
  readonly directory: string;
  /** The words of the command line, without the program's own name. */
  readonly args: readonly string[];
  /** From now on the first Ctrl-C goes to somebody else; the next one ends the command, as ever. Undefined: the first one does. */
  onInterrupt(handle: (() => void) | undefined): void;
  /** Opened on first use. */
  litterbox(): Promise<Performer>;
  /** The same, after what killed programs left half-done was settled: for commands that change something. */
  settled(): Promise<Performer>;
  close(): Promise<void>;
}

export function contextOf(
  repo: string,
  args: readonly string[],
  talk: Talk,
  signal: AbortSignal,
  onInterrupt: Context['onInterrupt'],
): Context {
  let opened: Promise<Performer> | undefined;
  const litterbox = () => {
    opened ??= loadLitterbox(repo, askOrCancel);
    return opened;
  };
  return {
    talk,
    signal,
    directory: repo,
    args,
    onInterrupt,
    litterbox,
    async settled() {
      const [one, { reconcileState }] = await Promise.all([litterbox(), import('./reconcile.ts')]);
      for (const sentence of await one.perform(reconcileState, {}, { signal })) talk.notice(visible(sentence));
      return one;
    },
    async close() {
      await (await opened?.catch(() => undefined))?.[Symbol.asyncDispose](); // why it did not open has been said
    },
  };
}
