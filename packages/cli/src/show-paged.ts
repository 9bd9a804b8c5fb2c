import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Context } from './context.ts';
import { isDumb } from './terminal/is-dumb.ts';
import { passOn } from './terminal/output-streams.ts';
import { personsPath } from './person/persons-path.ts';

/**
 * Writes lines to the person's pager on a terminal, and straight to stdout elsewhere. Asks for no more of them once the person has left.
 * A pager that cannot be started shows nothing, so the lines go straight to the terminal then.
 *
 * @param nothing what is said on a terminal where there is no line
 */
export async function showPaged(
  { talk, directory, onInterrupt }: Pick<Context, 'talk' | 'directory' | 'onInterrupt'>,
  lines: AsyncIterable<string> | Iterable<string>,
  nothing: string,
): Promise<void> {
  let pager = process.stdout.isTTY && !isDumb() ? pagerOf() : undefined;
  let pages: Pages | undefined;
  let isEmpty = true;
  const goOnWithout = async (): Promise<boolean> => {
    const unshown = await pages?.end();
    pages = undefined;
    if (unshown === undefined) return false;
    talk.notice(`The pager ${JSON.stringify(pager)} cannot be started. LITTERBOX_PAGER or PAGER names it.`);
    pager = undefined;
    for (const text of unshown) await passOn({ type: 'stdout-data', bytes: Buffer.from(text) });
    return true;
  };
  try {
    for await (const line of lines) {
      isEmpty = false;
      if (pager === undefined) await passOn({ type: 'stdout-data', bytes: Buffer.from(`${line}\n`) });
      else if (!(await (pages ??= open(pager, directory, onInterrupt)).write(`${line}\n`)) && !(await goOnWithout()))
        break;
    }
  } finally {
    await goOnWithout();
  }
  if (isEmpty && process.stdout.isTTY) talk.notice(nothing);
}

interface Pages {
  /** Tells whether somebody still reads. */
  write(text: string): Promise<boolean>;
  /** Resolves when the person has left the pager. Where it could not be started: with all that was written to it. */
  end(): Promise<readonly string[] | undefined>;
}

/** With what sh ends where it cannot start a program. */
const NOT_STARTED = [126, 127];
/** More than a pipe and its buffer hold: a pager that took as much was started. */
const MOST_UNSHOWN = 2 ** 20;

function open(pager: string, directory: string, onInterrupt: Context['onInterrupt']): Pages {
  const child = spawn('/bin/sh', ['-c', pager], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', ...process.env, PATH: personsPath(process.env['PATH'], directory) },
  });
  const closed = once(child, 'close');
  let isRead = true;
  let unshown: string[] | undefined = [];
  let size = 0;
  child.stdin.on('error', () => (isRead = false)); // the pipe is broken
  onInterrupt(() => (isRead = false)); // Ctrl-C is for the pager, which shows what it has by then
  return {
    async write(text) {
      if (size > MOST_UNSHOWN) unshown = undefined;
      size += text.length;
      unshown?.push(text);
      if (isRead && !child.stdin.write(text)) await Promise.race([once(child.stdin, 'drain').catch(() => {}), closed]);
      return isRead;
    },
    async end() {
      child.stdin.end();
      const [code] = await closed;
      return NOT_STARTED.includes(code) ? unshown : undefined;
    },
  };
}

/** The person's pager, or none. `less` gets the options with which it shows colours and leaves short texts on the screen. */
function pagerOf(): string | undefined {
  const { LITTERBOX_PAGER: own, PAGER: common } = process.env;
  const pager = own ?? common ?? 'less';
  return pager === '' || pager === 'cat' ? undefined : pager;
}
