import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { Line, type LineOptions, pidsOf, RemoteFixture, SshServer } from '@litterbox/testing';
import type { Litterbox } from 'litterbox';
import { remoteLitterbox } from './remote-litterbox.ts';

/** Nothing packs this. */
const LARGE_BYTES = 3 * 2 ** 20;
/** The tests' own, see `tools/test-host`. */
const ORDINARY_USER = 'litterbox-test';

/** What makes such a machine different from a plain one. */
interface Far extends LineOptions {
  readonly config?: readonly string[];
  readonly user?: string;
}

/** A repository here, and a machine behind a line. */
class FarFixture extends RemoteFixture {
  readonly line: Line;

  private constructor(server: SshServer, line: Line) {
    super(server.behind(line), { files: { 'a.txt': 'a\n' }, user: server.user });
    this.line = line;
    this.file('large.bin', randomBytes(LARGE_BYTES));
    this.git('add', '-A');
    this.git('commit', '-q', '-m', 'two');
    this.use(server);
    this.use(line);
  }

  static async open({ config = [], user, ...line }: Far = {}): Promise<FarFixture> {
    const server = await SshServer.startApart({ config, ...(user !== undefined && { user }) });
    return new FarFixture(server, await Line.start(server, line));
  }

  /** One more program that logs in. */
  readonly litterbox = (): Promise<Litterbox> => remoteLitterbox(this);

  /** What lies on the machine, up to a depth that shows what was begun. */
  readonly left = (): readonly string[] =>
    existsSync(this.there)
      ? readdirSync(this.there, { recursive: true, encoding: 'utf8' }).filter((path) => path.split('/').length < 5)
      : [];
}

describe('a machine behind a bad line', () => {
  it('a base that is cut on its way is an error, and the next create brings it', async () => {
    await using far = await FarFixture.open();
    const litterbox = await far.litterbox();
    far.line.cutAfter(LARGE_BYTES / 2);
    await expect(litterbox.create({ name: 'work' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await litterbox.list()).toEqual([]);
    await using sandbox = await litterbox.create({ name: 'work' });
    const { stdout } = await sandbox.run('wc -c <large.bin && echo b >b.txt');
    expect(Number(stdout)).toBe(LARGE_BYTES);
    expect((await litterbox.changes('work')).map(({ path }) => path)).toEqual(['b.txt']);
    await litterbox.delete('work', { force: true });
    expect(far.left().filter((path) => /sandboxes\/.|\.new|\.part|tmp/.test(path))).toEqual([]);
  }, 120_000);

  it('what a command did before its line was cut is recorded by the next', async () => {
    await using far = await FarFixture.open();
    const litterbox = await far.litterbox();
    await using sandbox = await litterbox.create({ name: 'work' });
    const mark = `${31_000 + Math.floor(performance.now())}`;
    const call = sandbox.run(`echo kept >kept.txt; sleep ${mark}`);
    call.catch(() => {}); // it is awaited below
    await eventually(
      async () => pidsOf(mark).length,
      (count) => count > 0,
    );
    far.line.cut();
    await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await sandbox.run('true');
    expect((await litterbox.changes('work')).map(({ path }) => path)).toEqual(['kept.txt']);
    await eventually(
      async () => pidsOf(mark).length,
      (count) => count === 0,
    );
    await litterbox.delete('work', { force: true });
  }, 120_000);

  it('a half-open line is given up on both sides, and another is taken once it passes bytes again', async () => {
    await using far = await FarFixture.open();
    const litterbox = await far.litterbox();
    await using sandbox = await litterbox.create({ name: 'work' });
    const mark = `${32_000 + Math.floor(performance.now())}`;
    const call = sandbox.run(`sleep ${mark}`);
    call.catch(() => {}); // it is awaited below
    await eventually(
      async () => pidsOf(mark).length,
      (count) => count > 0,
    );
    far.line.stall();
    await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(pidsOf(mark)).not.toEqual([]); // the positive control: the machine does not know yet
    await eventually(
      async () => pidsOf(mark).length,
      (count) => count === 0,
    );
    far.line.flow();
    expect((await sandbox.run('echo again')).stdout).toBe('again\n');
    await litterbox.delete('work', { force: true });
  }, 300_000);

  it('a slow line with 40 ms each way carries the whole job', async () => {
    await using far = await FarFixture.open({ delayMs: 40, bytesPerSecond: 2 ** 20 });
    const litterbox = await far.litterbox();
    await using sandbox = await litterbox.create({ name: 'work' });
    await sandbox.run('head -c 300000 /dev/zero >zeros && cat large.bin | wc -c');
    expect((await litterbox.changes('work')).map(({ path }) => path)).toEqual(['zeros']);
    await litterbox.delete('work', { force: true });
  }, 120_000);

  it('a server that prints a banner and allows two sessions carries the whole job', async () => {
    await using far = await FarFixture.open({ config: ['MaxSessions 2', 'Banner /etc/passwd'] });
    const litterbox = await far.litterbox();
    await using sandbox = await litterbox.create({ name: 'work' });
    const others = await Promise.all([1, 2, 3, 4, 5].map(async () => await litterbox.open('work')));
    expect(await Promise.all(others.map(async (one) => (await one.run('echo here')).stdout))).toEqual(
      others.map(() => 'here\n'),
    );
    expect((await sandbox.run('cat a.txt')).stdout).toBe('a\n');
    await litterbox.delete('work', { force: true });
  }, 120_000);
});

describe('a machine whose disk is full', () => {
  it('makes nothing, keeps nothing half-made, and works again when there is room', async () => {
    await using far = await FarFixture.open();
    const mount = (...args: readonly string[]) => execFileSync('mount', args);
    mount('-t', 'tmpfs', '-o', 'size=2m,mode=755', 'tmpfs', far.home);
    far.defer(() => void execFileSync('umount', ['-l', far.home]));
    const litterbox = await far.litterbox();
    await expect(litterbox.create({ name: 'work' })).rejects.toMatchObject({ code: 'DISK_FULL' });
    expect(await litterbox.list()).toEqual([]);
    expect(far.left().filter((path) => path.includes('large'))).toEqual([]);
    mount('-o', 'remount,size=16m', far.home);
    await using sandbox = await litterbox.create({ name: 'work' });
    await expect(sandbox.run('echo kept >kept.txt; head -c 40000000 /dev/zero >full')).rejects.toMatchObject({
      code: 'DISK_FULL',
    });
    mount('-o', 'remount,size=64m', far.home);
    await sandbox.run('rm full; echo more >more.txt');
    expect((await litterbox.changes('work')).map(({ path }) => path).sort()).toEqual(['kept.txt', 'more.txt']);
    await litterbox.delete('work', { force: true });
  }, 120_000);
});

describe('two users of one machine', () => {
  it('see nothing of each other', async () => {
    await using far = await FarFixture.open({ user: ORDINARY_USER });
    const litterbox = await far.litterbox();
    await using sandbox = await litterbox.create({ name: 'private' });
    const mark = `${33_000 + Math.floor(performance.now())}`;
    const call = sandbox.run(`echo secret >secret.txt; sleep ${mark}`);
    call.catch(() => {}); // it is awaited below
    await eventually(
      async () => pidsOf(mark).length,
      (count) => count > 0,
    );
    const pids = pidsOf(mark);
    const attempts = [
      ['ls', far.there],
      ['ls', join(far.there, 'overlayfs', 'sandboxes')],
      ...pids.flatMap((pid) => [
        ['ls', `/proc/${pid}/root/`],
        ['ls', `/proc/${pid}/cwd/`],
        ['cat', `/proc/${pid}/environ`],
      ]),
      ...readdirSync('/tmp')
        .filter((name) => name.startsWith('.litterbox-') && isOf(join('/tmp', name), ORDINARY_USER))
        .map((name) => ['ls', join('/tmp', name)]),
    ];
    expect(attempts.length).toBeGreaterThan(5);
    const statuses = (user: string) =>
      attempts.map((argv) => {
        const as = ['--reuid', user, '--regid', numberOf(user, '-g'), '--clear-groups', ...argv];
        return [...argv, spawnSync('setpriv', as).status === 0];
      });
    expect(statuses('nobody')).toEqual(attempts.map((argv) => [...argv, false]));
    // The positive control: its own user sees where its sandboxes are.
    expect(statuses(ORDINARY_USER).slice(0, 2)).toEqual(attempts.slice(0, 2).map((argv) => [...argv, true]));
    for (const pid of pids) process.kill(Number(pid));
    await call;
    await litterbox.delete('private', { force: true });
  }, 120_000);
});

const numberOf = (user: string, flag: '-u' | '-g') => execFileSync('id', [flag, user], { encoding: 'utf8' }).trim();
const isOf = (path: string, user: string) => String(statSync(path).uid) === numberOf(user, '-u');
