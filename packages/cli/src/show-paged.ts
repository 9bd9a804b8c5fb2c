import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Context } from './context.ts';
import { isDumb } from './is-dumb.ts';
import { passOn } from './output-streams.ts';
import { personsPath } from './persons-path.ts';

/**
 * Writes lines to the person's pager on a terminal, and straight to stdout elsewhere. Asks for no more of them once the person has left.
 *
 * @param nothing what is said on a terminal where there is no line
 */
export async function showPaged(
  { talk, directory, onInterrupt }: Pick<Context, 'talk' | 'directory' | 'onInterrupt'>,
  lines: AsyncIterable<string> | Iterable<string>,
  nothing: string,
): Promise<void> {
  const pager = process.stdout.isTTY && !isDumb() ? pagerOf() : undefined;
  let pages: Pages | undefined;
  let isEmpty = true;
  try {
    for await (const line of lines) {
      isEmpty = false;
      if (pager === undefined) await passOn({ type: 'stdout-data', bytes: Buffer.from(`${line}\n`) });
      else if (!(await (pages ??= open(pager, directory, onInterrupt)).write(`${line}\n`))) break;
    }
  } finally {
    await pages?.end();
  }
  if (isEmpty && process.stdout.isTTY) talk.notice(nothing);
}

interface Pages {
  /** Tells whether somebody still reads. */
  write(text: string): Promise<boolean>;
  /** Resolves when the person has left the pager. */
  end(): Promise<void>;
}

function open(pager: string, directory: string, onInterrupt: Context['onInterrupt']): Pages {
  const child = spawn('/bin/sh', ['-c', pager], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', ...process.env, PATH: personsPath(process.env['PATH'], directory) },
  });
  const closed = once(child, 'close');
  let isRead = true;
  child.stdin.on('error', () => (isRead = false)); // the pipe is broken
  onInterrupt(() => (isRead = false)); // Ctrl-C is for the pager, which shows what it has by then
  return {
    async write(text) {
      if (isRead && !child.stdin.write(text)) await Promise.race([once(child.stdin, 'drain').catch(() => {}), closed]);
      return isRead;
    },
    async end() {
      child.stdin.end();
      await closed;
    },
  };
}

/** The person's pager, or none. `less` gets the options with which it shows colours and leaves short texts on the screen. */
function pagerOf(): string | undefined {
  const { LITTERBOX_PAGER: own, PAGER: common } = process.env;
  const pager = own ?? common ?? 'less';
  return pager === '' || pager === 'cat' ? undefined : pager;
}
