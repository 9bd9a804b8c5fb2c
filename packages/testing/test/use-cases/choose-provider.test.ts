import { expect, test } from '@jest/globals';
import { unanswering } from '../unanswering.ts';
import { memoryProvider, realClock, SandboxShelf } from '@litterbox/memory';
import { useCaseFixture } from '../../src/index.ts';

const named = (name: string, usable: boolean, checks: readonly object[] = []) => ({
  ...memoryProvider({ shelf: new SandboxShelf(), clock: realClock, name }),
  probe: async () => ({ usable, checks: checks as never }),
});
const failedCheck = { name: 'user', status: 'failed', finding: 'No namespaces', remedy: 'sysctl' };

test('the only one is chosen without a look: what is missing is told by the create', async () => {
  await using fixture = useCaseFixture({ provider: { probe: () => Promise.reject(new Error('probed')) } });
  expect((await fixture.chooseProvider.choose(undefined)).name).toBe('memory');
});

test('one that is asked for is taken, usable or not', async () => {
  await using fixture = useCaseFixture({ otherProviders: [named('second', false)] });
  expect((await fixture.chooseProvider.choose('second')).name).toBe('second');
  await expect(fixture.chooseProvider.choose('third')).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    details: { hint: 'There are: memory, second.' },
  });
});

test('of several the first usable one is taken', async () => {
  await using fixture = useCaseFixture({
    provider: { probe: async () => ({ usable: false, checks: [] }) },
    otherProviders: [named('second', true), named('third', true)],
  });
  expect((await fixture.chooseProvider.choose(undefined)).name).toBe('second');
});

test('when none is usable the reasons of all are told', async () => {
  await using fixture = useCaseFixture({
    provider: { probe: async () => ({ usable: false, checks: [] }) },
    otherProviders: [named('second', false, [failedCheck])],
  });
  await expect(fixture.chooseProvider.choose(undefined)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    details: { hint: 'memory: it does not say why; second: No namespaces (sysctl)' },
  });
});

test('what needs an image goes to the first usable provider that has images', async () => {
  const withImages = (name: string, usable: boolean) => {
    const provider = named(name, usable, [failedCheck]);
    return { ...provider, traits: { ...provider.traits, roots: ['image' as const] } };
  };
  const provider = { traits: { ...named('memory', true).traits, roots: ['machine' as const] } };
  const up = { provider, otherProviders: [withImages('down', false), withImages('up', true)] };
  await using fixture = useCaseFixture(up);
  expect((await fixture.chooseProvider.choose(undefined, {})).name).toBe('memory');
  expect((await fixture.chooseProvider.choose(undefined, {}, 'image')).name).toBe('up');
  expect((await fixture.chooseProvider.choose('memory', {}, 'image')).name).toBe('memory');
  await using none = useCaseFixture({ provider, otherProviders: [withImages('a', false), withImages('b', false)] });
  await expect(none.chooseProvider.choose(undefined, {}, 'image')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'No provider with a root of type image works on this machine.',
    details: { hint: 'a: No namespaces (sysctl); b: No namespaces (sysctl)' },
  });
});

test('the best one is asked alone; where it is not usable the others are asked together', async () => {
  const asked: string[] = [];
  const counted = (name: string, usable: boolean) => ({
    ...named(name, usable, [failedCheck]),
    probe: async () => {
      asked.push(name);
      return { usable, checks: [] };
    },
  });
  await using good = useCaseFixture({ otherProviders: [counted('second', true), counted('third', true)] });
  expect((await good.chooseProvider.choose(undefined)).name).toBe('memory');
  expect(asked).toEqual([]);
  const provider = { probe: async () => ({ usable: false, checks: [] }) };
  await using bad = useCaseFixture({ provider, otherProviders: [counted('second', false), counted('third', true)] });
  expect((await bad.chooseProvider.choose(undefined)).name).toBe('third');
  expect(asked).toEqual(['second', 'third']);
});

test('one that does not answer is passed over, later than by who only looks, and said to be silent', async () => {
  const down = { ...named('down', true), ...unanswering };
  await using fixture = useCaseFixture({ provider: unanswering, otherProviders: [down, named('up', true)] });
  const begunMs = fixture.clock.monotonicMs();
  expect((await fixture.clock.during(fixture.chooseProvider.choose(undefined))).name).toBe('up');
  expect(fixture.clock.monotonicMs() - begunMs).toBe(20_000);
  await using none = useCaseFixture({ provider: unanswering, otherProviders: [down] });
  await expect(none.clock.during(none.chooseProvider.choose(undefined))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    details: { hint: expect.stringContaining('down: The provider down did not answer within 10 seconds.') },
  });
});

test('what each finds is told in their order, and of one that does not answer or breaks that', async () => {
  const broken = { ...named('broken', true), probe: () => Promise.reject(new Error('broke')) };
  const otherProviders = [{ ...named('down', true), ...unanswering }, broken, named('last', true)];
  await using fixture = useCaseFixture({ otherProviders });
  const begunMs = fixture.clock.monotonicMs();
  const reports = await fixture.clock.during(fixture.chooseProvider.listReports());
  expect(fixture.clock.monotonicMs() - begunMs).toBe(20_000);
  expect(reports.map(({ provider, report }) => `${provider}: ${report.usable}`)).toEqual([
    'memory: true',
    'down: false',
    'broken: false',
    'last: true',
  ]);
  expect(reports[1]?.report.checks).toEqual([
    {
      name: 'answer',
      status: 'warning',
      finding: 'The provider down did not answer within 20 seconds.',
      remedy: expect.stringContaining('busy'),
    },
  ]);
  expect(reports[2]?.report.checks).toEqual([expect.objectContaining({ finding: 'broke', status: 'failed' })]);
});

test('on a machine that is named, the kinds are those of this one, in the same order', async () => {
  await using fixture = useCaseFixture({
    provider: { probe: async () => ({ usable: true, checks: [] }) },
    otherProviders: [named('second', true), named('memory@far', false), named('second@far', true)],
  });
  const choose = async (wanted?: string, host?: string) =>
    (await fixture.chooseProvider.choose(wanted, {}, undefined, host)).name;
  expect(await choose()).toBe('memory');
  expect(await choose(undefined, 'far')).toBe('second@far');
  expect(await choose('memory', 'far')).toBe('memory@far');
  expect(await choose('memory@far', 'far')).toBe('memory@far');
  await expect(choose('memory@far', 'other')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(choose(undefined, '../x')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  const reports = await fixture.chooseProvider.listReports({}, 'far');
  expect(reports.map(({ provider }) => provider)).toEqual(['memory@far', 'second@far']);
});

test('a provider that is on no machine stays away from a preferred one, and is asked alone where it is named', async () => {
  await using fixture = useCaseFixture({
    otherProviders: [named('cluster', true), named('cluster@staging', true)],
    preferredHosts: ['vm'],
    providers: { hasOwnPlaces: (kind) => kind === 'cluster' },
  });
  const choose = async (wanted: string, host?: string) =>
    (await fixture.chooseProvider.choose(wanted, {}, undefined, host)).name;
  expect(await choose('cluster')).toBe('cluster');
  expect(await choose('cluster@staging')).toBe('cluster@staging');
  await expect(choose('cluster', 'far')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  const reports = await fixture.chooseProvider.listReports({}, undefined, 'cluster@staging');
  expect(reports.map(({ provider }) => provider)).toEqual(['cluster@staging']);
});
