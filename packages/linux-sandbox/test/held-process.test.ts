import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { collected } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { HeldProcess } from '../src/program/held-process.ts';

const host = localHost();
const { pipes } = host;
let directory = '';
const children: ChildProcess[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'litterbox-held-'));
  execFileSync(
    'mkfifo',
    ['in', 'out', 'err', 'exit'].map((suffix) => join(directory, `a.${suffix}`)),
  );
});
afterEach(() => {
  for (const { pid } of children.splice(0)) {
    try {
      process.kill(-(pid ?? 0), 'SIGKILL');
    } catch {
      // it has ended
    }
  }
  rmSync(directory, { recursive: true });
});

/** The sandbox's half is shell text, with the pipe of its end as descriptor 9. */
async function held(script: string, { hasStdin = false, lost = new AbortController().signal, isEnding = false } = {}) {
  // Where the session ends, nobody starts anything; a shell that came late would make a file in place of the pipe.
  if (!isEnding)
    children.push(spawn('sh', ['-c', `exec 9>a.exit; ${script}`], { cwd: directory, stdio: 'ignore', detached: true }));
  if (!pipes) throw new Error('this machine has no pipes');
  return await HeldProcess.open({
    host,
    pipes,
    place: join(directory, 'a'),
    hasStdin,
    lost,
    isEnding: async () => isEnding,
  });
}

const BEGIN = 'echo started 7 8 >&9; exec <a.in >a.out 2>a.err';
const SILENT = 'echo started 7 8 >&9; exec >a.out 2>a.err';

describe('a process whose pipes this one has', () => {
  it('passes on both outputs and the exit code, and leaves nothing behind', async () => {
    const process = await held(`${SILENT}; echo out; echo err >&2; echo exit 3 >&9`);
    expect(await collected(process)).toMatchObject({ stdout: 'started 7 8\nout\n', stderr: 'err\n' });
    expect(await process.exit).toEqual({ code: 3 });
    expect(readdirSync(directory)).toEqual([]);
  });

  it('passes on input of any size, and its end, to who opens it late', async () => {
    execFileSync('mkfifo', [join(directory, 'go')]);
    const late = 'read -r word <go; exec <a.in >a.out 2>a.err';
    const process = await held(`echo started 7 8 >&9; ${late}; wc -c; echo exit 0 >&9`, { hasStdin: true });
    const writing = process.write(Buffer.alloc(3 * 2 ** 20, 1));
    await writeFile(join(directory, 'go'), 'go\n');
    await writing;
    await process.closeStdin();
    expect(await collected(process)).toMatchObject({ stdout: `started 7 8\n${3 * 2 ** 20}\n` });
  });

  it('drops input that nobody reads any more', async () => {
    const process = await held(`${BEGIN}; exec </dev/null; echo exit 0 >&9`, { hasStdin: true });
    await process.write(Buffer.alloc(2 ** 20)); // and its end nobody writes
    expect(await process.exit).toEqual({ code: 0 });
  });

  it('says how it ended while a background process has its output, and hears that to its end', async () => {
    execFileSync('mkfifo', [join(directory, 'go')]);
    const process = await held(`${SILENT}; ( exec 9>&-; read -r word <go; echo later ) & echo exit 0 >&9`);
    expect(await process.exit).toEqual({ code: 0 });
    await writeFile(join(directory, 'go'), 'go\n');
    expect(await collected(process)).toMatchObject({ stdout: 'started 7 8\nlater\n' });
  });

  it('ends what nobody has opened when the program ended before', async () => {
    const process = await held('echo started 7 8 >&9; echo exit 126 >&9');
    expect(await collected(process)).toMatchObject({ stdout: 'started 7 8\n', stderr: '' });
  });

  it.each([
    ['says why nothing was started', 'echo no-cwd >&9', { stdout: 'no-cwd\n', exit: { code: 1 } }],
    ['takes no word that is none', 'echo paused >&9', { stdout: 'lost\n', exit: { code: 1 } }],
    ['is lost where nobody says how it ended', `${SILENT}; exec 9>&-`, { exit: { code: 137, signal: 'SIGKILL' } }],
    [
      'is lost to a line without an end',
      `${SILENT}; yes | tr -d "\\n" >&9`,
      { exit: { code: 137, signal: 'SIGKILL' } },
    ],
    [
      'takes no second start',
      `${SILENT}; echo started 9 9 >&9; echo nonsense >&9; echo exit 4 >&9`,
      { stdout: 'started 7 8\n', exit: { code: 4 } },
    ],
  ])('%s', async (_what, script, wanted) => {
    const process = await held(script);
    const { stdout } = await collected(process);
    expect({ stdout, exit: await process.exit }).toMatchObject(wanted);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('ends with its session', async () => {
    const session = new AbortController();
    const process = await held('echo started 7 8 >&9; sleep 60', { lost: session.signal });
    await process[Symbol.asyncIterator]().next();
    session.abort();
    expect(await process.exit).toEqual({ code: 137, signal: 'SIGKILL' });
    expect(readdirSync(directory)).toEqual([]);
  });

  it('waits for nothing in a session that ends already', async () => {
    expect(await collected(await held('sleep 60', { isEnding: true }))).toMatchObject({ stdout: 'ending\n' });
    expect(readdirSync(directory)).toEqual([]);
  });
});
