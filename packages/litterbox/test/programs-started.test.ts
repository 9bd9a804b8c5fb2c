import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { localHost } from '@litterbox/host';
import { LibraryFixture } from './library-fixture.ts';

const COUNTED = new URL('counted.ts', import.meta.url).pathname;
const TRACED = 'execve,fork,vfork,clone,clone3,fsync,fdatasync,access,faccessat2';

interface Counts {
  /** New processes, of whatever program. */
  forks: number;
  /** Programs that were started. */
  programs: string[];
  /** Files that were asked to be on the disk. */
  syncs: number;
}

/**
 * What each step may add. Work behind an answer may fall into the next step, so totals up to the end of each are compared: they do not depend on
 * how fast the machine is. Whoever makes one lower lowers it here.
 */
const MOST: Readonly<Record<string, readonly [forks: number, programs: number, syncs: number]>> = {
  'create to first command': [12, 5, 8],
  run: [1, 1, 1],
  list: [0, 0, 1],
  write: [0, 0, 3],
  snapshot: [7, 5, 2],
  'restore snapshot': [20, 14, 9],
  delete: [4, 4, 12],
  fork: [15, 7, 50],
};

describe('what a call starts, with all that this starts in its turn', () => {
  it('is no more than it was', async () => {
    await using fixture = new LibraryFixture();
    await using before = fixture.open();
    await before.create({ name: 'base' }); // the base tree is there from then on
    const trace = join(fixture.stateDirectory, 'trace');
    const node = [process.execPath, '--no-warnings', '--conditions=@litterbox/source', COUNTED];
    await using traced = await localHost({ repository: fixture.repository }).spawn({
      argv: [
        'strace',
        '-f',
        '-qq',
        '-e',
        `trace=${TRACED}`,
        '-o',
        trace,
        ...node,
        fixture.repository,
        fixture.stateDirectory,
      ],
    });
    let said = '';
    for await (const { bytes } of traced) said += Buffer.from(bytes).toString();
    expect({ said, ...(await traced.exit) }).toEqual({ said: '', code: 0 });
    const counts = countsOf(readFileSync(trace, 'utf8'));
    const most = [0, 0, 0];
    const total = [0, 0, 0];
    const excess = Object.entries(counts).filter(([step, { forks, programs, syncs }]) => {
      for (const [index, count] of [forks, programs.length, syncs].entries()) {
        most[index] = (most[index] ?? 0) + (MOST[step]?.[index] ?? 0);
        total[index] = (total[index] ?? 0) + count;
      }
      return total.some((count, index) => count > (most[index] ?? 0));
    });
    expect({ steps: Object.keys(counts), excess }).toEqual({ steps: Object.keys(MOST), excess: [] });
  });
});

/** Of what strace has written: a line for each call, or two, where another process had one in between. */
function countsOf(trace: string): Record<string, Counts> {
  const counts: Record<string, Counts> = {};
  let now: Counts | undefined;
  /** Arguments of calls that have not answered yet, by process. */
  const begun = new Map<string, string>();
  for (const line of trace.split('\n')) {
    const [, process = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const [, word, step = ''] = /"\/litterbox-step (begin|end) ([^"]*)"/.exec(text) ?? [];
    if (word === 'end') now = undefined;
    if (word === 'begin') now = counts[step] = { forks: 0, programs: [], syncs: 0 };
    if (text.endsWith('<unfinished ...>')) begun.set(process, text);
    const whole = text.startsWith('<...') ? `${begun.get(process)}${text}` : text;
    if (!now || whole.endsWith('<unfinished ...>') || / = -\d+ E/.test(whole)) continue;
    if (/^(fork|vfork|clone|clone3)\(/.test(whole) && !whole.includes('CLONE_THREAD')) now.forks += 1;
    if (whole.startsWith('execve(')) now.programs.push(whole.slice(0, 120));
    if (/^f(data)?sync\(/.test(whole)) now.syncs += 1;
  }
  return counts;
}
