import { expect, test } from '@jest/globals';
import {
  type Host,
  type HostFacts,
  type Hosts,
  LitterboxError,
  type ProviderFactory,
  type ProviderLoader,
  type ProviderMachine,
  type SandboxProvider,
} from '@litterbox/core/agent';
import { handClock } from '@litterbox/testing';
import { localHosts } from './local-hosts.ts';
import { openProviders, type ProviderSource } from './open-providers.ts';

const facts = { platform: 'linux', uid: 0 } as HostFacts;

/** A machine that answers at once, or never. */
function machine(name: string, isUp = true): Host {
  return {
    name,
    environment: {},
    facts: () => (isUp ? Promise.resolve(facts) : new Promise<never>(() => {})),
    async [Symbol.asyncDispose]() {},
  } as Partial<Host> as Host;
}

/** What was made of which machine, and what of it was closed. */
class World {
  readonly made: ProviderMachine[] = [];
  readonly closed: string[] = [];
  readonly clock = handClock();
  loads = 0;

  readonly factory =
    (kind: string): ProviderFactory =>
    (made) => {
      this.made.push(made);
      const name = made.key ?? kind;
      return {
        name,
        [Symbol.asyncDispose]: async () => void this.closed.push(name),
      } as Partial<SandboxProvider> as SandboxProvider;
    };

  readonly loader = (kind: string): ProviderLoader => ({
    kind,
    load: async () => {
      this.loads += 1;
      return this.factory(kind);
    },
  });

  hosts(machines: readonly Host[] = []): Hosts {
    const local = localHosts(machine('local'), '/state');
    return {
      list: local.list,
      open: async (name, options) => {
        const found = machines.find((one) => one.name === name);
        return found ? { host: found, directory: `/there/${name}` } : await local.open(name, options);
      },
      [Symbol.asyncDispose]: async () => void this.closed.push('hosts'),
    };
  }

  open(sources: readonly ProviderSource[], machines?: readonly Host[]) {
    return openProviders({ sources, hosts: this.hosts(machines), clock: this.clock });
  }
}

test('factories, providers and loaders come in their order, each under its key', async () => {
  const world = new World();
  const own = world.factory('own')({ host: machine('x'), facts, directory: '/own', key: 'own@build-box' });
  const providers = await world.open([world.factory('some'), own, world.loader('late')]);
  expect(providers.preferred).toEqual(['some', 'own@build-box', 'late']);
  expect(await providers.get('own@build-box')).toBe(own);
  expect((await providers.get('some')).name).toBe('some');
  expect((await providers.get('late')).name).toBe('late');
});

test('one that is loaded is loaded when it is asked for, and once, however many ask', async () => {
  const world = new World();
  const providers = await world.open([world.loader('late')]);
  expect(world.loads).toBe(0);
  const [one, other] = await Promise.all([providers.get('late'), providers.get('late')]);
  expect(other).toBe(one);
  expect(await providers.get('late')).toBe(one);
  expect({ loads: world.loads, made: world.made.length }).toEqual({ loads: 1, made: 1 });
});

test('what is made on another machine is given its facts, its directory and the whole key', async () => {
  const world = new World();
  const providers = await world.open([world.factory('some'), world.loader('late')], [machine('build-box')]);
  await providers.get('late@build-box');
  await providers.get('some@build-box');
  expect(world.made.map(({ key, host, directory }) => ({ key, host: host.name, directory }))).toEqual([
    { key: undefined, host: 'local', directory: '/state' },
    { key: 'late@build-box', host: 'build-box', directory: '/there/build-box' },
    { key: 'some@build-box', host: 'build-box', directory: '/there/build-box' },
  ]);
  expect(world.made.every((one) => one.facts === facts)).toBe(true);
});

test.each([
  ['nothing', 'There are: some, late.'],
  ['nothing@local', 'For this machine write nothing alone.'],
  ['some@local', 'For this machine write some alone.'],
  ['late@elsewhere', 'There are: local, which is this machine'],
  ['../late', 'Begin with a kind'],
  ['', 'Begin with a kind'],
])('%j is INVALID_ARGUMENT, with what there is', async (key, hint) => {
  const world = new World();
  const providers = await world.open([world.factory('some'), world.loader('late')]);
  await expect(providers.get(key)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    details: { hint: expect.stringContaining(hint) },
  });
});

test('two with one key are refused before anything is done', async () => {
  const world = new World();
  await expect(world.open([world.loader('some'), world.factory('some')])).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'Two providers are called some.',
  });
  await expect(world.open([world.factory('Some')])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
});

test('a machine that does not answer is UNAVAILABLE in time, for each by its own patience', async () => {
  const world = new World();
  await using providers = await world.open([world.loader('late')], [machine('down', false)]);
  const quick = providers.get('late@down', { waitMs: 100 });
  const slow = providers.get('late@down');
  await world.clock.pass(100);
  await expect(quick).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'The machine of late@down did not answer within 0.1 seconds.',
  });
  await world.clock.pass(29_900);
  await expect(slow).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { provider: 'late@down' } });
  expect((await providers.get('late')).name).toBe('late');
});

test('who gives up is told by its own reason, and ends nothing for the others', async () => {
  const world = new World();
  let connect = (_facts: HostFacts) => {};
  const slow = { ...machine('slow'), facts: () => new Promise<HostFacts>((resolve) => (connect = resolve)) };
  const providers = await world.open([world.loader('late')], [slow]);
  const leaving = new AbortController();
  const left = providers.get('late@slow', { signal: leaving.signal });
  const stays = providers.get('late@slow');
  await world.clock.asleep();
  leaving.abort(new Error('enough'));
  await expect(left).rejects.toThrow('enough');
  connect(facts);
  expect((await stays).name).toBe('late@slow');
});

test('what failed is tried again by the next call', async () => {
  const world = new World();
  let isUp = false;
  const down = new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
  const flaky = { ...machine('flaky'), facts: () => (isUp ? Promise.resolve(facts) : Promise.reject(down)) };
  const providers = await world.open([world.loader('late')], [flaky]);
  await expect(providers.get('late@flaky')).rejects.toBe(down);
  isUp = true;
  expect((await providers.get('late@flaky')).name).toBe('late@flaky');
});

test('closing closes what was made, then the machines, once, and waits for none that has not answered', async () => {
  const world = new World();
  let connect = (_facts: HostFacts) => {};
  const slow = { ...machine('slow'), facts: () => new Promise<HostFacts>((resolve) => (connect = resolve)) };
  const providers = await world.open([world.factory('some'), world.loader('late'), world.loader('never')], [slow]);
  await providers.get('late');
  const waiting = providers.get('late@slow');
  await Promise.all([providers[Symbol.asyncDispose](), providers[Symbol.asyncDispose]()]);
  expect(world.closed).toEqual(['some', 'late', 'hosts']);
  connect(facts);
  await expect(waiting).rejects.toMatchObject({ code: 'DISPOSED' });
  expect(world.closed).toEqual(['some', 'late', 'hosts', 'late@slow']);
  await expect(providers.get('some')).rejects.toMatchObject({ code: 'DISPOSED' });
});

test('of hosts there is this machine, and the error for another says so', async () => {
  const here = machine('local');
  const hosts = localHosts(here, '/state');
  expect(await hosts.list()).toEqual([{ name: 'local', address: 'this machine' }]);
  expect(await hosts.open('local')).toEqual({ host: here, directory: '/state' });
  await expect(hosts.open('build-box')).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'There is no host build-box.',
    details: { hint: expect.stringContaining('There are: local') },
  });
  const reason = new Error('enough');
  await expect(hosts.open('local', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
});
