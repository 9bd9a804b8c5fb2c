// A machine in a network of its own, by a link whose packets the kernel drops, refuses, loses and slows down.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@litterbox/conformance';
import { openSshHost } from '@litterbox/provider-ssh';
import { MachineNetwork, pidsOf, RemoteFixture, type SshLogin, SshServer } from '@litterbox/testing';
import type { Litterbox, Sandbox } from 'litterbox';
import { remoteLitterbox } from './remote-litterbox.ts';

/** Within which every call on a broken link ends: 40 seconds by its beats, or a login's 20, on a machine that may be busy. */
const BOUND_MS = 90_000;
/** Within which the machine ends what a lost connection started: a minute and two looks of five seconds, on a machine that may be busy. */
const ORPHANS_MS = 120_000;
const LARGE_BYTES = 3 * 2 ** 20;

/** A repository here, and a machine whose link can be broken. */
class LinkFixture extends RemoteFixture {
  readonly network: MachineNetwork;
  readonly login: SshLogin;

  private constructor(network: MachineNetwork, server: SshServer) {
    super(server, { files: { 'a.txt': 'a\n' } });
    this.network = network;
    this.login = server.login;
    this.use(server);
  }

  static async open(): Promise<LinkFixture> {
    const network = await MachineNetwork.open();
    return new LinkFixture(network, await SshServer.start({ network }));
  }

  readonly litterbox = (): Promise<Litterbox> => remoteLitterbox(this);
}

/** A command that has begun, lasts, and can be found on the machine. */
async function lasting(sandbox: Sandbox, script: (sleep: string) => string) {
  const mark = `${35_000 + Math.floor(performance.now())}`;
  const call = sandbox.run(script(`sleep ${mark}`));
  call.catch(() => {}); // whoever began it waits for it
  const pids = async () => pidsOf(mark);
  await eventually(pids, ({ length }) => length > 0);
  return { call, pids };
}

async function codeOf(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    await call;
    return 'it worked';
  } catch (error) {
    return (error as { readonly code?: string }).code;
  }
}

/** As {@link codeOf}, with how long it took. */
async function timed(call: PromiseLike<unknown>): Promise<{ readonly code: unknown; readonly isInTime: boolean }> {
  const begin = performance.now();
  const code = await codeOf(call);
  return { code, isInTime: performance.now() - begin < BOUND_MS };
}

const GIVEN_UP = { code: 'UNAVAILABLE', isInTime: true };

const BREAKS: readonly (readonly [title: string, break_: (network: MachineNetwork) => void])[] = [
  ['drops every packet', (network) => network.drop()],
  ['resets every connection', (network) => network.refuse('tcp-reset')],
  ['says that nobody is there', (network) => network.refuse('icmp-host-unreachable')],
  ['is taken out', (network) => network.setLink('down')],
];

describe('a machine whose link', () => {
  it.each(BREAKS)(
    '%s is given up in time, ends what it ran within a minute, and works when the link does',
    async (_title, breakLink) => {
      await using far = await LinkFixture.open();
      const litterbox = await far.litterbox();
      await using sandbox = await litterbox.create({ name: 'work' });
      const { call, pids } = await lasting(sandbox, (sleep) => `echo kept >kept.txt; ${sleep}`);
      breakLink(far.network);
      expect(await timed(call)).toEqual(GIVEN_UP);
      expect(await pids()).not.toEqual([]); // the positive control: the machine does not know yet
      expect(await timed(sandbox.run('true'))).toEqual(GIVEN_UP);
      await eventually(pids, ({ length }) => length === 0, ORPHANS_MS);
      // The server itself does not know yet.
      await eventually(
        async () => far.network.programs(),
        (names) => names.every((name) => name === 'sshd' || name === ''),
        ORPHANS_MS,
      );
      far.network.pass();
      far.network.setLink('up');
      expect((await sandbox.run('cat kept.txt')).stdout).toBe('kept\n');
      expect((await litterbox.changes('work')).map(({ path }) => path)).toEqual(['kept.txt']);
      await litterbox.delete('work', { force: true });
    },
    400_000,
  );

  it('is taken out keeps no program from ending', async () => {
    await using far = await LinkFixture.open();
    const host = await openSshHost(far.login);
    await host.spawn({ argv: ['sleep', '1000'] });
    far.network.setLink('down');
    expect(await timed(host[Symbol.asyncDispose]())).toEqual({ code: 'it worked', isInTime: true });
  }, 400_000);

  it('is down for a moment loses no answer, and nobody logs in meanwhile', async () => {
    await using far = await LinkFixture.open();
    const litterbox = await far.litterbox();
    await using sandbox = await litterbox.create({ name: 'work' });
    const { call, pids } = await lasting(sandbox, (sleep) => `${sleep}; echo done`);
    far.network.setLink('down');
    for (const pid of await pids()) process.kill(Number(pid));
    expect(await codeOf(far.litterbox())).toBe('UNAVAILABLE');
    far.network.setLink('up');
    expect((await call).stdout).toBe('done\n');
    await litterbox.delete('work', { force: true });
  }, 120_000);

  it('refuses new connections is told at once, and works when it takes them', async () => {
    await using far = await LinkFixture.open();
    far.network.refuse('tcp-reset');
    expect(await codeOf(far.litterbox())).toBe('UNAVAILABLE');
    far.network.pass();
    const litterbox = await far.litterbox();
    await using sandbox = await litterbox.create({ name: 'work' });
    expect((await sandbox.run('cat a.txt')).stdout).toBe('a\n');
    await litterbox.delete('work', { force: true });
  }, 120_000);

  it('loses every tenth packet and carries a mebibyte a second brings the whole job', async () => {
    await using far = await LinkFixture.open();
    far.file('large.bin', randomBytes(LARGE_BYTES));
    far.git('add', '-A');
    far.git('commit', '-q', '-m', 'two');
    far.network.drop('--match', 'statistic', '--mode', 'nth', '--every', '10', '--packet', '0');
    const rate = ['tbf', 'rate', '8mbit', 'burst', '32kb', 'latency', '100ms'];
    far.network.run('tc', 'qdisc', 'add', 'dev', far.network.device, 'root', ...rate);
    const litterbox = await far.litterbox();
    await using sandbox = await litterbox.create({ name: 'work' });
    const { stdout } = await sandbox.run('head -c 300000 /dev/zero >zeros; wc -c <large.bin');
    expect(Number(stdout)).toBe(LARGE_BYTES);
    expect((await litterbox.changes('work')).map(({ path }) => path)).toEqual(['zeros']);
    await litterbox.delete('work', { force: true });
    // The positive control: packets were lost.
    expect(far.network.run('iptables', '--wait', '--list', '--verbose', '--numeric')).toMatch(/^ *[1-9]\S* .* DROP /m);
  }, 300_000);
});
