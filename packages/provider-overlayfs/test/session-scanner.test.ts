import { type ChildProcess, type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { chmod, lchown, mkdir, readdir, readlink, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { collected, eventually } from '@litterbox/conformance';
import { type SandboxProvider, type SandboxRuntime, SandboxId } from '@litterbox/core/provider';
import { localHost } from '@litterbox/host';
import { overlayfs } from '../src/index.ts';
import { backendDirectory, isRoot, removeBackend } from './backends.ts';
import { sandboxSpec } from './sandbox-spec.ts';
import { sessionProgramBytes } from './session-program-bytes.ts';

const run = promisify(execFile);
let state = '';
let provider: SandboxProvider;
let runtime: SandboxRuntime;
/** The directory of the sandbox on the host. */
let directory = '';
const children: ChildProcess[] = [];

beforeAll(async () => {
  const host = localHost();
  const facts = await host.facts();
  const bytes = await sessionProgramBytes(facts.architecture);
  state = await backendDirectory('copy');
  provider = overlayfs({ host, facts, directory: state, strategy: 'copy', sessionProgram: () => bytes });
  const id = SandboxId.make();
  runtime = await provider.create(sandboxSpec(id, { allowDegraded: true }));
  directory = join(state, 'overlayfs', 'sandboxes', id);
  await collected(await runtime.spawn({ argv: ['true'] }));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(async () => {
  await runtime[Symbol.asyncDispose]();
  await run('rm', ['-rf', workspace('deep'), workspace('many')]); // no path leads to their ends
  await provider[Symbol.asyncDispose]();
  await removeBackend(state);
});

/** Asks for a walker as a client does. */
function walker(): ChildProcessWithoutNullStreams {
  const [program = ''] = readdirSync(join(state, 'overlayfs')).filter((name) => name.startsWith('session-'));
  const argv = ['relay', join(directory, 'scan-io'), crypto.randomUUID(), 'pipe', '0'];
  const child = spawn(join(state, 'overlayfs', program), argv, { stdio: 'pipe', detached: true });
  child.stdin.on('error', () => {}); // it may have ended
  children.push(child);
  return child;
}

/** The texts of the answers, without the first line of the relay. */
async function ask(...requests: readonly string[]): Promise<readonly string[]> {
  const child = walker();
  const ended = once(child, 'close');
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stdin.end(requests.map((request) => `${request}\0`).join(''));
  expect(await ended).toEqual([0, null]);
  const said = Buffer.concat(chunks).toString('latin1');
  const begin = said.indexOf('\n') + 1;
  expect(said.slice(0, begin)).toMatch(/^started \d+ \d+\n$/);
  return said.slice(begin).split('\0').slice(0, -1);
}

/** Processes of the scanner, by the host's numbers: the session program where it is two namespaces of processes deep. Nobody but root sees more of them. */
const scannerProcesses = (): readonly string[] =>
  readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return (
        readFileSync(`/proc/${name}/cmdline`, 'utf8').startsWith(`${state}/`) &&
        /^NSpid:(\t\d+){3}$/m.test(readFileSync(`/proc/${name}/status`, 'utf8'))
      );
    } catch {
      return false; // it has ended
    }
  });

/** Those of them that are process 1 in there. */
const scanners = () =>
  scannerProcesses().filter((one) => /^NSpid:.*\t1$/m.test(readFileSync(`/proc/${one}/status`, 'utf8')));

const workspace = (path: string) => join(directory, 'ws', path);

/** As GNU find tells of a tree. */
async function found(top: string, place: string): Promise<readonly string[]> {
  const format = '%y %i %m %s %p\\0';
  const { stdout } = await run('find', [top, '-printf', format], { encoding: 'latin1', maxBuffer: 2 ** 28 });
  return stdout
    .split('\0')
    .slice(0, -1)
    .map((text) => text.replace(top, place).replace(/^[^fdlc]/, 's'));
}

describe('the place of the change scanner', () => {
  it('has two trees, no rights and nothing else', async () => {
    const [process = ''] = scanners();
    const status = readFileSync(`/proc/${process}/status`, 'utf8');
    const field = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1];
    expect([field('CapEff'), field('CapPrm'), field('CapBnd'), field('CapAmb')]).toEqual(
      Array(4).fill('0000000000000000'),
    );
    expect([field('NoNewPrivs'), field('Seccomp')]).toEqual(['1', '2']);
    if (isRoot) expect(field('Uid')).not.toMatch(/\b0\b/);
    const mounts = readFileSync(`/proc/${process}/mountinfo`, 'utf8').trim().split('\n');
    expect(mounts.map((line) => line.split(' ')[4]).toSorted()).toEqual(['/', '/io', '/workspace']);
    for (const line of mounts) expect(line.split(' ')[5]).toMatch(/^ro,nosuid,nodev,noexec/);
    if (!isRoot) {
      // It is nobody's to trace: the user who started it may not look at its files either.
      await expect(readdir(`/proc/${process}/fd`)).rejects.toThrow(/EACCES/);
      return;
    }
    expect(readdirSync(`/proc/${process}/root`)).toEqual(['io', 'workspace']);
    for (const name of ['mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup'])
      expect(await readlink(`/proc/${process}/ns/${name}`)).not.toBe(await readlink(`/proc/self/ns/${name}`));
    const descriptors = await Promise.all(
      (await readdir(`/proc/${process}/fd`)).map((name) => readlink(`/proc/${process}/fd/${name}`)),
    );
    expect(new Set(descriptors.map((path) => path.slice(path.lastIndexOf('/') + 1)))).toEqual(
      new Set(['null', 'control']),
    );
  });

  it('takes the session along when it dies, and another one begins', async () => {
    process.kill(Number(scanners()[0]), 'SIGKILL');
    // All of the session holds it. A command that is started while the session ends may be lost with it.
    await run('flock', ['-w', '60', join(directory, 'alive.lock'), 'true']);
    expect(scannerProcesses()).toEqual([]);
    expect((await collected(await runtime.spawn({ argv: ['echo', 'again'] }))).stdout).toBe('again\n');
    expect(scanners()).toHaveLength(1);
  });
});

describe('a walker', () => {
  it('tells of a tree what find tells', async () => {
    const names = ['plain', 'two\nlines', ' spaces ', '-dash', 'ü', '\u0001', 'E', 'T 1.0', '=x'];
    for (const name of names) {
      await mkdir(workspace(`odd/${name}`), { recursive: true });
      await writeFile(workspace(`odd/${name}/${name}`), name);
    }
    await symlink('/etc/passwd', workspace('odd/link'));
    await run('mkfifo', [workspace('odd/pipe')]);
    // By a relative path: an absolute one may be longer than an address.
    const bind = "use Socket; socket(my $s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack_sockaddr_un('socket')) or die";
    await run('perl', ['-e', bind], { cwd: workspace('odd') });
    await chmod(workspace('odd/plain'), 0o2755);
    const wanted = (await found(workspace('odd'), '/workspace/odd')).toSorted();
    expect((await ask('A/workspace/odd')).toSorted()).toEqual([...wanted, 'E'].toSorted());
    const told = await ask('W');
    const below = wanted.map((text) => text.replace('/workspace/', ''));
    expect(told).toEqual(expect.arrayContaining(below));
    expect(told.filter((text) => text.startsWith('=')).toSorted()).toEqual(
      expect.arrayContaining(['=plain', '=two\nlines', '=\u0001\u0002', '=E']),
    );
  });

  it('tells what changed since a moment, and the time by which to ask next', async () => {
    const told = await ask('W');
    const [, moment = ''] = told[0]?.split(' ') ?? [];
    expect(moment).toMatch(/^\d+\.\d{9}$/);
    await eventually(
      async () => (await ask(`W${moment}`)).filter((text) => /^[fdlcsu] /.test(text)),
      (entries) => entries.length === 0, // what was made in the same tick of the clock counts once more
    ).catch(() => {});
    await writeFile(workspace('later'), 'now');
    const entries = (await ask(`W${moment}`)).filter((text) => text.startsWith('f '));
    expect(entries).toEqual([expect.stringMatching(/^f \d+ 644 3 later$/)]);
    expect((await ask('W99999999999.0')).filter((text) => /^[fdlcsu] /.test(text))).toEqual([]);
  });

  /** Numbers of system calls are of one architecture: mmap is 9, read is 0. */
  const itOnX64 = process.arch === 'x64' ? it : it.skip;

  itOnX64('AX207: tells what is written by a mapping that it has told of before', async () => {
    await writeFile(workspace('mapped'), 'before');
    const script = `open(my $f, "+<", shift) or die; my $at = syscall(9, 0, 4096, 3, 1, fileno($f), 0);
$| = 1; while (syscall(0, 0, $at, 6) == 6) { print "written\\n" }`;
    const mapper = spawn('perl', ['-e', script, workspace('mapped')], { stdio: ['pipe', 'pipe', 'inherit'] });
    const write = async (text: string) => {
      mapper.stdin.write(text);
      await once(mapper.stdout, 'data');
    };
    try {
      await write('first!');
      const isTold = async (moment: string) => (await ask(`W${moment}`)).some((text) => text.endsWith(' 6 mapped'));
      const [, moment = ''] = (await ask('W'))[0]?.split(' ') ?? [];
      await eventually(
        () => isTold(moment),
        (isThere) => !isThere, // what was written in the same tick of the clock counts once more
      ).catch(() => {});
      await write('second');
      expect(await isTold(moment)).toBe(true);
    } finally {
      mapper.kill('SIGKILL');
    }
  });

  it('follows no link, wherever it stands', async () => {
    await symlink('/io', workspace('out'));
    expect(await ask('A/workspace/out/control', 'C/workspace/out', 'A/workspace/out')).toEqual([
      'E',
      'E',
      expect.stringMatching(/^l \d+ 777 3 \/workspace\/out$/),
      'E',
    ]);
    expect(await ask('A/workspace/gone', 'C/workspace/gone/too')).toEqual(['E', 'E']);
    expect((await ask('C/')).toSorted()).toEqual(['E', 'd 0 0 0 //io', 'd 0 0 0 //workspace']);
  });

  it('goes as deep as a path can be, and says where it stops', async () => {
    const name = 'd'.repeat(200);
    const deep = `n=0; while [ $n -lt 25 ]; do mkdir ${name} && cd ${name} && touch f; n=$((n+1)); done`;
    await mkdir(workspace('deep'));
    await run('sh', ['-c', `cd "$0" && ${deep}`, workspace('deep')]);
    const told = (await ask('A/workspace/deep')).slice(0, -1);
    const unread = told.filter((text) => text.startsWith('u '));
    expect(unread).toHaveLength(1);
    expect(unread[0]?.split(' ')[4]?.length).toBeGreaterThan(3840);
    const many = 'n=0; while [ $n -lt 1500 ]; do mkdir d && cd d; n=$((n+1)); done; : >last';
    await mkdir(workspace('many'));
    await run('sh', ['-c', `cd "$0" && ${many}`, workspace('many')]);
    expect((await ask('A/workspace/many')).at(-2)).toBe(
      `f ${statSync(workspace(`many/${'d/'.repeat(1500)}last`)).ino} 644 0 /workspace/many/${'d/'.repeat(1500)}last`,
    );
  });

  it('tells of a directory that it cannot read as that', async () => {
    await mkdir(workspace('closed/inner'), { recursive: true });
    await chmod(workspace('closed'), 0o000);
    if (isRoot) await lchown(workspace('closed'), 61_100, 61_100);
    expect(await ask('A/workspace/closed')).toEqual([expect.stringMatching(/^u \d+ 0 \d+ \/workspace\/closed$/), 'E']);
    await chmod(workspace('closed'), 0o600);
    expect(await ask('A/workspace/closed')).toEqual([
      expect.stringMatching(/^u \d+ 600 \d+ \/workspace\/closed$/),
      'E',
    ]);
    await chmod(workspace('closed'), 0o700);
  });

  it('leaves out nothing of a directory that is closed and opened meanwhile, or says that it cannot read it', async () => {
    const FILES = 300;
    await mkdir(workspace('blinking'));
    for (let number = 0; number < FILES; number += 1) await writeFile(workspace(`blinking/${number}`), '');
    if (isRoot) await lchown(workspace('blinking'), 61_100, 61_100);
    const blink = 'while :; do chmod 600 "$0"; chmod 700 "$0"; done';
    const blinking = spawn('sh', ['-c', blink, workspace('blinking')], { stdio: 'ignore' });
    children.push(blinking);
    for (let round = 0; round < 40; round += 1) {
      const told = await ask('A/workspace/blinking', 'C/workspace/blinking');
      const asked = [told.slice(0, told.indexOf('E')), told.slice(told.indexOf('E') + 1, -1)];
      for (const texts of asked) {
        const files = texts.filter((text) => text.startsWith('f ')).length;
        const isTold = texts.some((text) => /^u .*\/blinking$/.test(text));
        expect({ isWhole: files === FILES || isTold }).toEqual({ isWhole: true });
      }
    }
    const ended = once(blinking, 'exit');
    blinking.kill('SIGKILL');
    await ended;
    await chmod(workspace('blinking'), 0o700);
  });

  it('walks through a tree that is moved and swapped meanwhile', async () => {
    await mkdir(workspace('busy/a/b/c'), { recursive: true });
    const over = new AbortController();
    const swapping = (async () => {
      while (!over.signal.aborted) {
        await rename(workspace('busy/a'), workspace('busy/x'));
        await symlink('/io', workspace('busy/a'));
        await run('rm', [workspace('busy/a')]);
        await rename(workspace('busy/x'), workspace('busy/a'));
      }
    })();
    for (let round = 0; round < 20; round += 1) {
      const told = await ask('A/workspace/busy', 'C/workspace/busy/a/b');
      expect(told.filter((text) => text === 'E')).toHaveLength(2);
      expect(told.filter((text) => text.includes('control'))).toEqual([]);
    }
    over.abort();
    await swapping;
  });

  it('may be asked anything: it answers, or ends, and the scanner goes on', async () => {
    const request = fc.oneof(
      fc.constantFrom(
        'T',
        'W',
        'W1.5',
        'W-1',
        'Wx',
        'W1.',
        'A',
        'A/',
        'A//',
        'C',
        'C/',
        'Aworkspace',
        'A/frozen/',
        'X',
        '',
      ),
      fc.string({ unit: 'binary-ascii', maxLength: 30 }).map((one) => one.replaceAll('\0', '')),
      fc.integer({ min: 3_000, max: 9_000 }).map((length) => `A/${'x/'.repeat(length / 2)}`),
    );
    const before = scanners();
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 8 }), async (requests) => {
        const child = walker();
        let complaint = '';
        child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
        child.stdout.resume();
        child.stdin.end(requests.map((one) => `${one}\0`).join(''));
        const [code, signal] = await once(child, 'close');
        expect([0, 'SIGKILL']).toContain(signal ?? code);
        expect(complaint).toBe('');
      }),
      { numRuns: Math.ceil(15 * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1)) },
    );
    expect(await ask('C/workspace/gone')).toEqual(['E']);
    expect(scanners()).toEqual(before);
  });

  it('ends with whoever asked for it', async () => {
    const child = walker();
    // Until it has answered it may still wait for its pipes, a minute at most.
    const answered = new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => chunk.includes(0) && resolve());
    });
    child.stdin.write('C/workspace/gone\0');
    await answered;
    const begun = scannerProcesses();
    child.kill('SIGKILL');
    await eventually(
      async () => scannerProcesses(),
      (now) => now.length === begun.length - 1,
    );
  });
});
