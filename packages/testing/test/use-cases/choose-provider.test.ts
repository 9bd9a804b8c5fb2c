import { expect, test } from '@jest/globals';
import { memoryProvider, realClock, SandboxShelf, useCaseFixture } from '../../src/index.ts';

const named = (name: string, usable: boolean, checks: readonly object[] = []) => ({
  ...memoryProvider({ shelf: new SandboxShelf(), clock: realClock, name }),
  probe: async () => ({ usable, checks: checks as never }),
});
const failedCheck = { name: 'user', status: 'failed', finding: 'No namespaces', remedy: 'sysctl' };

test('the only one is chosen without a look: what is missing is told by the create', async () => {
  await using fixture = useCaseFixture({ provider: { probe: () => Promise.reject(new Error('probed')) } });
  expect((await fixture.chooseProvider.execute(undefined)).name).toBe('memory');
});

test('one that is asked for is taken, usable or not', async () => {
  await using fixture = useCaseFixture({ otherProviders: [named('second', false)] });
  expect((await fixture.chooseProvider.execute('second')).name).toBe('second');
  await expect(fixture.chooseProvider.execute('third')).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    details: { hint: 'There are: memory, second.' },
  });
});

test('of several the first usable one is taken', async () => {
  await using fixture = useCaseFixture({
    provider: { probe: async () => ({ usable: false, checks: [] }) },
    otherProviders: [named('second', true), named('third', true)],
  });
  expect((await fixture.chooseProvider.execute(undefined)).name).toBe('second');
});

test('when none is usable the reasons of all are told', async () => {
  await using fixture = useCaseFixture({
    provider: { probe: async () => ({ usable: false, checks: [] }) },
    otherProviders: [named('second', false, [failedCheck])],
  });
  await expect(fixture.chooseProvider.execute(undefined)).rejects.toMatchObject({
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
  expect((await fixture.chooseProvider.execute(undefined, {})).name).toBe('memory');
  expect((await fixture.chooseProvider.execute(undefined, {}, 'image')).name).toBe('up');
  expect((await fixture.chooseProvider.execute('memory', {}, 'image')).name).toBe('memory');
  await using none = useCaseFixture({ provider, otherProviders: [withImages('a', false), withImages('b', false)] });
  await expect(none.chooseProvider.execute(undefined, {}, 'image')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'No provider with a root of type image can be used on this machine.',
    details: { hint: 'a: No namespaces (sysctl); b: No namespaces (sysctl)' },
  });
});
