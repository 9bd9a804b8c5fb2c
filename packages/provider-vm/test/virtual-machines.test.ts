import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { Host } from '@litterbox/core';
import { HostRegistry, PROVIDERS, userHosts } from '@litterbox/providers';
import { RepositoryFixture, SshServer } from '@litterbox/testing';
import { createLitterbox, type Litterbox } from 'litterbox';
import { FakePrograms } from './fake-programs.ts';
import { sshConfig } from './recorded.ts';

const PROVIDER = 'overlayfs';

/** A repository on a computer whose virtual machines are this machine, by programs of the test's own. */
class VirtualMachinesFixture extends RepositoryFixture {
  readonly programs = new FakePrograms(join(this.directory, 'programs'));

  /** Where sandboxes of one machine are. */
  stateOf(machine: string): string {
    return join(this.directory, machine);
  }

  sandboxesOn(machine: string): readonly string[] {
    const directory = join(this.stateOf(machine), 'litterbox', PROVIDER, 'sandboxes');
    return existsSync(directory) ? readdirSync(directory) : [];
  }

  /** A machine of Lima that is an SSH server here; it is stopped until somebody starts it. */
  async addLima(name: string): Promise<SshServer> {
    const server = await SshServer.start({ config: [`SetEnv XDG_STATE_HOME=${this.stateOf(name)}`] });
    this.defer(() => server[Symbol.asyncDispose]());
    const { username: user } = userInfo();
    const { port, identityFile } = server;
    const config = this.programs.file('config', sshConfig(`lima-${name}`, { user, port, identityFile }));
    const state = this.programs.file('state', 'Stopped');
    this.programs.add(
      'limactl',
      `case $1 in
list) printf '{"name":"%s","status":"%s","vmType":"vz"}\\n' ${name} "$(cat ${state})" ;;
start) printf Running >${state}; echo 'time="t" level=info msg="READY."' >&2 ;;
show-ssh) cat ${config} ;;
esac`,
    );
    return server;
  }

  /** A distribution of WSL2 whose shells are those of this machine. */
  addWsl(name: string): void {
    const table = `  NAME      STATE           VERSION\r\n* ${name}    Running         2\r\n`;
    const list = this.programs.file('wsl.txt', Buffer.from(table, 'utf16le'));
    this.programs.add(
      'wsl.exe',
      `case $1 in
--list) exec cat ${list} ;;
--distribution) [ "$2" = ${name} ] && [ "$3" = --exec ] || exit 1; shift 3; cd /; XDG_STATE_HOME=${this.stateOf('wsl')} exec "$@" ;;
esac`,
    );
  }

  litterbox(host: Host = this.programs.host): Litterbox {
    const { repository: repo, stateDirectory } = this;
    const litterbox = createLitterbox({
      repo,
      stateDirectory,
      providers: PROVIDERS,
      openHosts: userHosts,
      parts: { host },
    });
    this.defer(() => litterbox[Symbol.asyncDispose]());
    return litterbox;
  }
}

async function emptied(litterbox: Litterbox): Promise<void> {
  for (const { name } of await litterbox.list()) await litterbox.delete(name, { force: true });
}

test('a machine of Lima is started at first use, works over SSH, and is known by its key from then on', async () => {
  await using fixture = new VirtualMachinesFixture({ 'a.txt': 'a\n' });
  const server = await fixture.addLima('default');
  const litterbox = fixture.litterbox();
  const told: string[] = [];
  const sandbox = await litterbox.create(
    { name: 'x', host: 'lima:Default' },
    { onProgress: ({ message }) => told.push(message) },
  );
  expect(told).toContain('Starting lima:default: READY.');
  expect((await sandbox.run('cat a.txt && echo b >b.txt')).stdout).toBe('a\n');
  expect((await litterbox.changes('x')).map(({ path }) => path)).toEqual(['b.txt']);
  expect(fixture.sandboxesOn('default')).toEqual([sandbox.record.id]);
  expect(sandbox.record.provider).toBe(`${PROVIDER}@lima:default`);
  expect((await litterbox.list()).map(({ name, host, state }) => `${name}: ${host} ${state}`)).toEqual([
    'x: lima:default ready',
  ]);
  const [kept] = await new HostRegistry(fixture.stateDirectory).list();
  expect(kept).toMatchObject({ name: 'lima:default', hostKeys: [{ key: server.hostKey.key }] });

  // Who looks starts nothing; who works does.
  fixture.programs.file('state', 'Stopped');
  const later = fixture.litterbox();
  expect((await later.list()).map(({ state }) => state)).toEqual(['unreachable']);
  expect(readFileSync(join(fixture.programs.directory, 'state'), 'utf8')).toBe('Stopped');
  expect((await (await later.open('x')).run('cat b.txt')).stdout).toBe('b\n');

  // Another program at that port, or another machine.
  await new HostRegistry(fixture.stateDirectory).put({
    name: 'lima:default',
    destination: 'lima:default',
    hostKeys: [
      {
        type: 'ssh-ed25519',
        key: 'AAAAC3NzaC1lZDI1NTE5AAAAIEwhateverwhateverwhateverwhateverwhateverwh',
        fingerprint: '',
      },
    ],
  });
  const other = fixture.litterbox();
  await expect(other.create({ name: 'y', host: 'lima:default' })).rejects.toMatchObject({
    code: 'SSH_HOSTKEY_CHANGED',
    details: { hint: expect.stringContaining('removing "lima:default" from the hosts') },
  });
  await emptied(later);
});

test('on macOS the machine of Lima is where sandboxes are made when nobody names one', async () => {
  await using fixture = new VirtualMachinesFixture({ 'a.txt': 'a\n' });
  await fixture.addLima('default');
  const litterbox = fixture.litterbox(fixture.programs.hostOn('darwin'));
  const sandbox = await litterbox.create({ name: 'x' });
  expect(sandbox.record.provider).toBe(`${PROVIDER}@lima:default`);
  await emptied(litterbox);
});

test('a distribution of WSL2 works by shells that wsl.exe starts', async () => {
  await using fixture = new VirtualMachinesFixture({ 'a.txt': 'a\n' });
  fixture.addWsl('Ubuntu');
  const litterbox = fixture.litterbox();
  const sandbox = await litterbox.create({ name: 'x', host: 'wsl:Ubuntu' });
  expect((await sandbox.run('cat a.txt && echo b >b.txt')).stdout).toBe('a\n');
  expect((await litterbox.changes('x')).map(({ path }) => path)).toEqual(['b.txt']);
  expect(fixture.sandboxesOn('wsl')).toEqual([sandbox.record.id]);
  const several = await litterbox.create({ name: 'y', host: ['wsl:ubuntu', 'lima:none'] });
  expect(several.record.placement?.hosts).toMatchObject([
    { host: 'wsl:ubuntu', verdict: 'chosen' },
    { host: 'lima:none', verdict: 'silent', reason: expect.stringContaining('Lima is not installed') },
  ]);
  await emptied(litterbox);
});
