import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ssh } from '@litterbox/provider-ssh';
import { HostRegistry, userHosts } from '@litterbox/providers';
import { realClock } from '@litterbox/memory';
import { SshServer } from '@litterbox/testing';
import type { Litterbox, LitterboxOptions } from '../src/index.ts';
import { LibraryFixture } from './library-fixture.ts';
import { PROVIDER, provider } from './provider.ts';

/** A machine under load answers later than a quiet one, which is not what these tests are about. */
const patient: LitterboxOptions['parts'] = {
  clock: { ...realClock, sleep: (durationMs, options) => realClock.sleep(durationMs * 20, options) },
};

/** A repository, and SSH servers that lead to this machine, each with a directory of its own. */
class SeveralHostsFixture extends LibraryFixture {
  /** A server whose sandboxes are below a directory of its name. */
  async server(name: string): Promise<SshServer> {
    const state = join(this.directory, name);
    const server = await SshServer.start({ config: [`SetEnv XDG_STATE_HOME=${state}`] });
    this.defer(() => server[Symbol.asyncDispose]());
    return server;
  }

  /** Puts a server into the user's book. */
  async add(name: string, { destination, identityFile, hostKey }: SshServer): Promise<void> {
    await new HostRegistry(this.stateDirectory).put({ name, destination, identityFile, hostKeys: [hostKey] });
  }

  sandboxesOn(name: string): readonly string[] {
    const directory = join(this.directory, name, 'litterbox', PROVIDER, 'sandboxes');
    return existsSync(directory) ? readdirSync(directory) : [];
  }
}

/** Deletes all while the machines are there. */
async function emptied(litterbox: Litterbox): Promise<void> {
  for (const { name } of await litterbox.list()) await litterbox.delete(name, { force: true });
}

test('of machines over SSH the one that is up has the sandbox, and the one that is down is told', async () => {
  await using fixture = new SeveralHostsFixture({ 'a.txt': 'a\n' });
  const [up, down] = [await fixture.server('up'), await fixture.server('down')];
  await fixture.add('up', up);
  await fixture.add('down', down);
  await down.down();
  const litterbox = fixture.open({ openHosts: userHosts, parts: patient });
  const sandbox = await litterbox.create({ name: 'x', host: ['down', 'up'] });
  expect((await sandbox.run('cat a.txt && echo b >b.txt')).stdout).toBe('a\n');
  expect((await litterbox.changes('x')).map(({ path }) => path)).toEqual(['b.txt']);
  expect(fixture.sandboxesOn('up')).toEqual([sandbox.record.id]);
  const [created] = await litterbox.events(0);
  const [first, second] = sandbox.record.placement?.hosts ?? [];
  expect(first).toMatchObject({ host: 'up', verdict: 'chosen', load: { processors: expect.any(Number) } });
  expect(second).toMatchObject({ host: 'down', verdict: 'silent', reason: expect.stringContaining('ECONNREFUSED') });
  expect(created?.data).toMatchObject({ host: 'up', placement: sandbox.record.placement });
  const copy = await sandbox.fork();
  expect(copy.record.provider).toBe(`${PROVIDER}@up`);
  expect((await litterbox.list()).map(({ name, host, state }) => `${name}: ${host} ${state}`)).toEqual([
    'x: up ready',
    'x-2: up ready',
  ]);

  // Later the other one has all the room: what exists stays where it is.
  await up.down();
  await down.up();
  const later = fixture.open({ openHosts: userHosts, parts: patient });
  expect((await later.create({ name: 'y', host: ['up', 'down'] })).record.provider).toBe(`${PROVIDER}@down`);
  expect((await later.list()).map(({ name, host, state }) => `${name}: ${host} ${state}`)).toEqual([
    'x: up unreachable',
    'x-2: up unreachable',
    'y: down ready',
  ]);
  await down.down();
  const neither = fixture.open({ openHosts: userHosts, parts: patient });
  await expect(neither.create({ name: 'z', host: ['up', 'down'] })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await up.up();
  await down.up();
  await emptied(fixture.open({ openHosts: userHosts }));
});

test('the machine of a provider that an embedder made over SSH takes part', async () => {
  await using fixture = new SeveralHostsFixture({ 'a.txt': 'a\n' });
  const server = await fixture.server('box');
  const there = await ssh({ ...server.login, provider, kind: PROVIDER, name: 'box' });
  const litterbox = fixture.open({ providers: [there, provider], parts: patient });
  const sandbox = await litterbox.create({ name: 'x', host: ['box', 'local'] });
  const hosts = sandbox.record.placement?.hosts.map(({ host, load }) => `${host}: ${load !== undefined}`);
  expect([...(hosts ?? [])].sort()).toEqual(['box: true', 'local: true']);
  await expect(litterbox.create({ name: 'y', host: ['box', 'typo'] })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
  await emptied(litterbox);
});
