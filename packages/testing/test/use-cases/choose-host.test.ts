import { expect, test } from '@jest/globals';
import { LitterboxError, type SandboxProvider } from '@litterbox/core/provider';
import { type GaugeAnswer, memoryProvider, realClock, SandboxShelf } from '@litterbox/memory';
import { NOTHING_LEFT, useCaseFixture, type UseCaseFixtureOptions } from '../../src/index.ts';

const GIB = 2 ** 30;
const usable = async () => ({ usable: true, checks: [] });
const brokenProbe = async () => ({
  usable: false,
  checks: [{ name: 'user', status: 'failed' as const, finding: 'No namespaces' }],
});

const on = (host: string, changed: Partial<SandboxProvider> = {}): SandboxProvider => ({
  ...memoryProvider({ shelf: new SandboxShelf(), clock: realClock, name: `memory@${host}` }),
  probe: usable,
  ...changed,
});

/** This machine and some others, each with a provider. */
function world(machines: Readonly<Record<string, GaugeAnswer>>, options: UseCaseFixtureOptions = {}) {
  const others = Object.keys(machines).filter((name) => name !== 'local');
  return useCaseFixture({
    provider: { probe: usable },
    otherProviders: others.map((name) => on(name)),
    machines,
    ...options,
  });
}

const free = (gib: number): GaugeAnswer => ({ availableBytes: gib * GIB });

test('of several machines the one with the most room has the sandbox, and the record, the log and the event say why', async () => {
  await using fixture = world({ local: free(4), a: free(14), b: free(8) });
  const { record, warnings } = await fixture.createSandbox.create({ name: 'x', hosts: ['local', 'a', 'b'] });
  expect({ provider: record.provider, warnings }).toEqual({ provider: 'memory@a', warnings: [] });
  const verdicts = record.placement?.hosts.map(({ host, verdict }) => `${host}: ${verdict}`);
  expect(verdicts).toEqual(['a: chosen', 'b: spare', 'local: spare']);
  expect(record.placement).toMatchObject({ isAsked: false, memoryBytes: 4 * GIB });
  const [entry] = await fixture.readAudit.entries({});
  expect(entry?.input).toMatchObject({ provider: 'memory@a', placement: record.placement });
  const [event] = await fixture.state.events(0);
  expect(event).toMatchObject({
    type: 'sandbox-created',
    data: { host: 'a', provider: 'memory@a', placement: record.placement },
  });
  expect((await fixture.listSandboxes.list('repository')).map(({ name, host }) => `${name}: ${host}`)).toEqual([
    'x: a',
  ]);
});

test('what sandboxes may use counts, so that one after the other is spread', async () => {
  const config = 'hosts = ["a", "b", "local"]\n[limits]\nmemory = "8GiB"\n';
  await using fixture = world({ local: {}, a: {}, b: {} }, { config });
  const hosts: (string | undefined)[] = [];
  for (const name of ['one', 'two', 'three', 'four'])
    hosts.push((await fixture.createSandbox.create({ name })).record.provider);
  expect(hosts).toEqual(['memory@a', 'memory@b', 'memory', 'memory@a']);
});

test('a machine that does not answer is passed over after ten seconds, and told', async () => {
  const down = new LitterboxError('UNAVAILABLE', 'b does not answer.', { operation: 'host.open', hint: 'Start it.' });
  await using fixture = world({ local: free(1), a: 'silent', b: down });
  const begunMs = fixture.clock.monotonicMs();
  const made = fixture.createSandbox.create({ name: 'x', hosts: ['a', 'b', 'local'] });
  const { record, warnings } = await fixture.clock.during(made);
  expect(fixture.clock.monotonicMs() - begunMs).toBe(10_000);
  expect(record.provider).toBe('memory');
  expect(warnings).toEqual([
    'a: passed over, it did not answer within 10 seconds',
    'b: passed over, b does not answer. Start it.',
  ]);
});

test('when none has the memory that is asked for, nothing is made, and each machine is told', async () => {
  await using fixture = world({ local: free(4), a: free(6), b: 'silent' });
  const create = () =>
    fixture.createSandbox.create({
      name: 'x',
      hosts: ['a', 'b', 'local'],
      overrides: { limits: { memoryBytes: 8 * GIB } },
    });
  await expect(fixture.clock.during(create())).rejects.toMatchObject({
    code: 'RESOURCE_EXHAUSTED',
    message: expect.stringMatching(/a: too small for 8\.0 GiB, 6\.0 GiB of .*; local: too small .*; b: passed over/),
    details: { operation: 'sandbox.place', hint: expect.stringContaining('--memory') },
  });
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

test('when none answers, or no provider works on those that do, that is told', async () => {
  const machines = { a: 'silent', b: {} } as const;
  await using fixture = world(machines, { otherProviders: [on('a'), on('b', { probe: brokenProbe })] });
  const create = fixture.createSandbox.create({ name: 'x', hosts: ['a', 'b'] });
  await expect(fixture.clock.during(create)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/b: passed over, .*No namespaces.*; a: passed over, it did not answer/),
  });
  expect(fixture.left()).toEqual(NOTHING_LEFT);
});

test('the next best is taken where no provider works on the best', async () => {
  await using fixture = world(
    { a: free(16), b: free(8) },
    { otherProviders: [on('a', { probe: brokenProbe }), on('b')] },
  );
  const { record, warnings } = await fixture.createSandbox.create({
    name: 'x',
    provider: 'memory',
    hosts: ['a', 'b'],
  });
  expect(record.provider).toBe('memory@b');
  expect(warnings).toEqual([expect.stringMatching(/^a: passed over, .*No namespaces/)]);
});

test('a name that is none is a mistake, and no machine that is down', async () => {
  await using fixture = world({ a: {} });
  const create = (...hosts: string[]) => fixture.createSandbox.create({ name: 'x', hosts });
  await expect(create('a', 'typo')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(create('a', '../x')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(create()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(create(...Array.from({ length: 17 }, (_, index) => `h${index}`))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('17 hosts'),
  });
});

test('one machine is taken as it is: nobody asks it, and there is nothing to explain', async () => {
  await using fixture = world({ a: new LitterboxError('INTERNAL', 'asked', { operation: 'test' }) });
  const { record } = await fixture.createSandbox.create({ name: 'x', hosts: ['a', 'a'] });
  expect({ provider: record.provider, placement: record.placement }).toEqual({ provider: 'memory@a' });
});

test('forks stay on the machine of their source, and a sandbox is never moved, whoever has more room by then', async () => {
  const config = 'hosts = ["a", "local"]\n';
  const machines: Record<string, GaugeAnswer> = { a: free(15), local: free(1) };
  await using fixture = world(machines, { config });
  await fixture.createSandbox.create({ name: 'x' });
  machines['a'] = new LitterboxError('INTERNAL', 'asked', { operation: 'test' });
  const { record } = await fixture.forkSandbox.fork('x', undefined);
  expect({ provider: record.provider, placement: record.placement }).toEqual({ provider: 'memory@a' });
  await fixture.takeSnapshot.take('x', 's1');
  await fixture.restoreSnapshot.restore('x', 's1');
  expect((await fixture.findSandbox.find('x')).provider).toBe('memory@a');
});

test('a machine that is named at the command line goes over those of the file, and so does a provider with its own', async () => {
  const config = 'hosts = ["a", "local"]\n';
  await using fixture = world({ a: free(15), b: free(2), local: free(1) }, { config });
  const providerOf = async (name: string, input: object = {}) =>
    (await fixture.createSandbox.create({ name, ...input })).record.provider;
  expect(await providerOf('one')).toBe('memory@a');
  expect(await providerOf('two', { hosts: ['b'] })).toBe('memory@b');
  expect(await providerOf('three', { provider: 'memory@b' })).toBe('memory@b');
  expect(await providerOf('four', { provider: 'memory' })).toBe('memory@a');
  await using other = world({ a: {}, b: {} }, { config, environment: { LITTERBOX_PROVIDER: 'memory@b' } });
  expect((await other.createSandbox.create({ name: 'x' })).record.provider).toBe('memory@b');
});

test('a file that names machines twice over is refused', async () => {
  const config = 'provider = "memory@a"\nhosts = ["a", "local"]\n';
  await using fixture = world({ a: {}, local: {} }, { config });
  await expect(fixture.createSandbox.create({ name: 'x' })).rejects.toMatchObject({ code: 'CONFIG_VALUE' });
});

test('who names no machine gets the one that is preferred, also for a look', async () => {
  await using fixture = world({ vm: {} }, { preferredHosts: ['vm'] });
  expect((await fixture.createSandbox.create({ name: 'x' })).record.provider).toBe('memory@vm');
  expect((await fixture.createSandbox.create({ name: 'y', hosts: ['local'] })).record.provider).toBe('memory');
  expect((await fixture.chooseProvider.listReports()).map(({ provider }) => provider)).toEqual(['memory@vm']);
  expect((await fixture.chooseProvider.listReports({}, 'local')).map(({ provider }) => provider)).toEqual(['memory']);
});

test('of several that are preferred the one with the most room is taken', async () => {
  const machines = { a: free(2), b: free(15) };
  const preferredHosts = ['a', 'b'];
  await using fixture = world(machines, { preferredHosts });
  const { record } = await fixture.createSandbox.create({ name: 'x' });
  expect(record).toMatchObject({ provider: 'memory@b', placement: { hosts: [{ host: 'b' }, { host: 'a' }] } });
});
