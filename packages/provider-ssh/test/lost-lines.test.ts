import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { overlayfs } from '@litterbox/provider-overlayfs';
import { ssh } from '@litterbox/provider-ssh';
import { RepositoryFixture } from '@litterbox/testing';
import { createLitterbox, type Litterbox } from 'litterbox';
import { Line, type LineOptions } from './line.ts';
import { SshServer } from './ssh-server.ts';

/** Nothing packs this. */
const LARGE_BYTES = 3 * 2 ** 20;

/** A repository here, and a machine behind a line. */
class FarFixture extends RepositoryFixture {
  readonly there: string;
  readonly server: SshServer;
  readonly line: Line;

  private constructor(server: SshServer, line: Line) {
    super({ 'a.txt': 'a\n' });
    this.server = server;
    this.line = line;
    this.file('large.bin', randomBytes(LARGE_BYTES));
    this.git('add', '-A');
    this.git('commit', '-q', '-m', 'two');
    this.there = join(this.directory, 'there');
    mkdirSync(this.there, { mode: 0o700 });
    this.defer(() => server[Symbol.asyncDispose]());
    this.defer(() => line[Symbol.asyncDispose]());
  }

  static async open(options?: LineOptions): Promise<FarFixture> {
    const server = await SshServer.start();
    return new FarFixture(server, await Line.start(server.port, options));
  }

  /** One more program that logs in. */
  readonly program = async (): Promise<Litterbox> => {
    const provider = await ssh({
      ...this.server.loginBy(this.line.port),
      provider: overlayfs,
      kind: 'overlayfs',
      name: 'box',
      directory: this.there,
    });
    const litterbox = createLitterbox({
      repo: this.repository,
      providers: [provider],
      stateDirectory: this.stateDirectory,
    });
    this.defer(async () => {
      await litterbox[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    });
    return litterbox;
  };

  /** What lies on the machine, up to a depth that shows what was begun. */
  readonly left = (): readonly string[] =>
    readdirSync(this.there, { recursive: true, encoding: 'utf8' }).filter((path) => path.split('/').length < 5);
}

/** Programs of this machine that have a word among their arguments. */
function running(word: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^[0-9]+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(word);
    } catch {
      return false; // it has ended
    }
  });
}

describe('a machine behind a bad line', () => {
  it('a base that is cut on its way is an error, and the next create brings it', async () => {
    await using far = await FarFixture.open();
    const litterbox = await far.program();
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
    const litterbox = await far.program();
    await using sandbox = await litterbox.create({ name: 'work' });
    const mark = `${31_000 + Math.floor(performance.now())}`;
    const call = sandbox.run(`echo kept >kept.txt; sleep ${mark}`);
    call.catch(() => {}); // it is awaited below
    await eventually(
      async () => running(mark).length,
      (count) => count > 0,
    );
    far.line.cut();
    await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await sandbox.run('true');
    expect((await litterbox.changes('work')).map(({ path }) => path)).toEqual(['kept.txt']);
    await eventually(
      async () => running(mark).length,
      (count) => count === 0,
    );
    await litterbox.delete('work', { force: true });
  }, 120_000);

  it('a half-open line is given up on both sides, and another is taken once it passes bytes again', async () => {
    await using far = await FarFixture.open();
    const litterbox = await far.program();
    await using sandbox = await litterbox.create({ name: 'work' });
    const mark = `${32_000 + Math.floor(performance.now())}`;
    const call = sandbox.run(`sleep ${mark}`);
    call.catch(() => {}); // it is awaited below
    await eventually(
      async () => running(mark).length,
      (count) => count > 0,
    );
    far.line.stall();
    await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(running(mark)).not.toEqual([]); // the positive control: the machine does not know yet
    await eventually(
      async () => running(mark).length,
      (count) => count === 0,
    );
    far.line.flow();
    expect((await sandbox.run('echo again')).stdout).toBe('again\n');
    await litterbox.delete('work', { force: true });
  }, 300_000);

  it('a slow line with 40 ms each way carries the whole job', async () => {
    await using far = await FarFixture.open({ delayMs: 40, bytesPerSecond: 2 ** 20 });
    const litterbox = await far.program();
    await using sandbox = await litterbox.create({ name: 'work' });
    await sandbox.run('head -c 300000 /dev/zero >zeros && cat large.bin | wc -c');
    expect((await litterbox.changes('work')).map(({ path }) => path)).toEqual(['zeros']);
    await litterbox.delete('work', { force: true });
  }, 120_000);
});
