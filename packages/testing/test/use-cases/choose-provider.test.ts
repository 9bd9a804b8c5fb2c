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
