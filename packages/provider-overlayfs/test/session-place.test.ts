import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { appendFile, chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { localHost } from '@litterbox/host';
import { sessionProgramBytes } from './session-program-bytes.ts';

type Entry = readonly [name: string, ...words: string[]];

const run = promisify(execFile);
let program = '';
let io = '';
let place: ChildProcess;
const children: ChildProcess[] = [];
const descriptors: number[] = [];

beforeAll(async () => {
  const { architecture } = await localHost().facts();
  program = join(await mkdtemp(join(tmpdir(), 'litterbox-program-')), 'litterbox-session');
  await writeFile(program, await sessionProgramBytes(architecture), { mode: 0o755 });
});
afterAll(() => rm(join(program, '..'), { recursive: true }));

/** A place as a sandbox is one: a namespace of processes, of which it is process 1. */
beforeEach(async () => {
  io = await mkdtemp(join(tmpdir(), 'litterbox-place-'));
  await chmod(io, 0o755);
  await run('mkfifo', [join(io, 'control'), join(io, 'ready')]);
  descriptors.push(openSync(join(io, 'control'), 'r+'), openSync(join(io, 'ready'), 'r+'));
  const words = ['-r', '-p', '-f', '--kill-child', '--mount-proc', program, 'place', io];
  place = spawn('unshare', words, { stdio: 'ignore', detached: true });
  children.push(place);
  const ready = spawn('head', ['-n', '1', join(io, 'ready')], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(ready);
  expect(await text(ready.stdout)).toMatch(/^ready 2( \/proc\/(1|self)\/fd\/[0127])+\n$/);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const descriptor of descriptors.splice(0)) closeSync(descriptor);
  await rm(io, { recursive: true, force: true });
});

const wordsOf = (entries: readonly Entry[]) =>
  [...entries, ['go'] as const].flatMap(([name, ...words]) => [name, `${words.length}`, ...words]);

function begin(id: string, entries: readonly Entry[]): ChildProcessWithoutNullStreams {
  const plan = Buffer.from(
    wordsOf(entries)
      .map((word) => `${word}\0`)
      .join(''),
  );
  const child = spawn(program, ['relay', io, id, 'none', `${plan.length}`], { stdio: 'pipe' });
  child.stdin.end(plan);
  children.push(child);
  return child;
}

async function outcome(child: ChildProcessWithoutNullStreams) {
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { stdout, stderr, code, signal };
}

const ask = (id: string, ...entries: readonly Entry[]) => outcome(begin(id, entries));
/** Without the line that says that it has started. */
const said = ({ stdout }: { readonly stdout: string }) => stdout.replace(/^started \d+ \d+\n/, '');

/** Waits until a child has said the line. */
async function hears(child: ChildProcessWithoutNullStreams, line: string): Promise<void> {
  let heard = '';
  for await (const chunk of child.stdout) {
    heard += String(chunk);
    if (heard.includes(line)) return;
  }
  throw new Error(`it said ${heard}`);
}

describe('a place that the session program serves', () => {
  it('starts a program with its environment, directory and exit code', async () => {
    const script = 'echo "$ONE,$TWO,$PWD,$(pwd),$#,$1"; echo err >&2; exit 7';
    const result = await ask(
      'a',
      ['environment', 'ONE', '1', 'TWO', 'a\nb'],
      ['unset', 'ONE'],
      ['directory', '/usr/bin'],
      ['needs', 'no-program', 'sh'],
      ['run', 'sh', '-c', script, 'sh', ''],
    );
    expect(said(result)).toBe(',a\nb,/usr/bin,/usr/bin,1,\n');
    expect(result).toMatchObject({ stderr: 'err\n', code: 7 });
  });

  it.each([
    ['no-cwd', [['directory', '/nowhere']]],
    ['no-program', [['needs', 'no-program', 'no-such-program']]],
    ['no-program', [['needs', 'no-program', '/usr']]],
    ['lost', [['fly', 'high']]],
    ['lost', [['needs']]],
    ['lost', []],
  ] as const)('says %s and starts nothing', async (word, entries) => {
    expect(await ask('a', ...entries, ...(entries.length > 0 ? [['run', 'true'] as const] : []))).toMatchObject({
      stdout: `${word}\n`,
      code: 1,
    });
  });

  it('says what cannot be started, as a shell does', async () => {
    await writeFile(join(io, 'none'), '', { mode: 0o755 });
    await writeFile(join(io, 'bad'), '#!/no/interpreter\n', { mode: 0o755 });
    expect(await ask('a', ['run', join(io, 'none')])).toMatchObject({ code: 0 });
    expect(await ask('b', ['run', join(io, 'bad')])).toMatchObject({
      code: 127,
      stderr: expect.stringContaining('/bad: '),
    });
    expect(await ask('c', ['run', '/usr'])).toMatchObject({ code: 126, stderr: '/usr: Permission denied\n' });
  });

  it('opens a workspace that was closed, and nothing else', async () => {
    await run('mkdir', ['-m', '0', join(io, 'closed')]);
    await run('unshare', ['-r', 'true']);
    expect(said(await ask('a', ['directory', join(io, 'closed'), 'workspace'], ['run', 'pwd']))).toBe(`${io}/closed\n`);
  });

  it('takes a hundred thousand words', async () => {
    const words = wordsOf([['run', 'sh', '-c', 'echo $#', 'sh', ...Array.from({ length: 100_000 }, () => 'x')]]);
    await writeFile(join(io, 'a.cmd'), words.map((word) => `${word}\0`).join(''));
    const child = spawn(program, ['relay', io, 'a', 'none', '0'], { stdio: 'pipe' });
    children.push(child);
    expect(said(await outcome(child))).toBe('100000\n');
  });

  it('ends what a call started, also what left its parent and shed its mark', async () => {
    const mark = 'LITTERBOX_CALL';
    const script = `sh -c 'trap "" TERM; setsid env -u ${mark} sleep 1000 & sleep 1001' & setsid sh -c 'sleep 1002 & exec sleep 1003' & echo on; wait`;
    const other = begin('b', [
      ['environment', mark, 'other'],
      ['run', 'sh', '-c', 'echo on; exec sleep 1004'],
    ]);
    await hears(other, 'on\n');
    const child = begin('a', [
      ['environment', mark, 'mine'],
      ['run', 'sh', '-c', script],
    ]);
    let worker = '';
    for await (const chunk of child.stdout) {
      worker ||= /^started (\d+)/.exec(String(chunk))?.[1] ?? '';
      if (String(chunk).includes('on\n')) break;
    }
    const sleepers = async () =>
      (
        await ask(crypto.randomUUID(), [
          'run',
          'sh',
          '-c',
          'for f in /proc/[0-9]*/cmdline; do tr "\\0" " " <$f; echo; done',
        ])
      ).stdout
        .match(/^sleep 100\d/gm)
        ?.sort() ?? [];
    await eventually(sleepers, (found) => found.length === 5);
    await appendFile(join(io, 'control'), `kill ${worker} mine\n`);
    await eventually(sleepers, (found) => found.length === 1);
    expect(await sleepers()).toEqual(['sleep 1004']);
  });

  it('sends a signal to the group of a program', async () => {
    const child = begin('a', [
      ['run', 'sh', '-c', 'trap "echo got; exit 3" INT; echo on; while :; do sleep 0.1; done'],
    ]);
    let heard = '';
    for await (const chunk of child.stdout) {
      heard += String(chunk);
      const [, program = ''] = /^started \d+ (\d+)\n/.exec(heard) ?? [];
      if (heard.endsWith('on\n')) await appendFile(join(io, 'control'), `signal ${program} INT\n`);
    }
    expect(heard).toMatch(/got\n$/);
  });

  it('goes on after words that are nobody’s', async () => {
    const lines = [
      'run ../../etc/passwd',
      'run',
      'kill',
      'kill 1 x',
      'kill 2 x',
      'signal 2 KILL',
      'signal 1 STOP',
      'fly',
      '',
      'x'.repeat(5000),
    ];
    for (const line of lines) await appendFile(join(io, 'control'), `${line}\n`);
    expect(said(await ask('a', ['run', 'echo', 'on']))).toBe('on\n');
    expect(place.exitCode).toBeNull();
  });

  it('leaves no process behind that nobody waits for', async () => {
    await ask('a', ['run', 'sh', '-c', '( sleep 0 & ) ; true']);
    const states = async () => (await ask(crypto.randomUUID(), ['run', 'sh', '-c', 'cat /proc/[0-9]*/stat'])).stdout;
    await eventually(states, (found) => !/\) Z /.test(found));
  });

  it('is over when its first process has ended', async () => {
    const ended = once(place, 'exit');
    const children = await readFile(`/proc/${place.pid}/task/${place.pid}/children`, 'utf8');
    const one = children.trim();
    const first = (await readFile(`/proc/${one}/task/${one}/children`, 'utf8')).trim();
    process.kill(Number(first), 'SIGKILL');
    await ended;
  });
});
