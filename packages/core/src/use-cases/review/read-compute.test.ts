import { expect, it } from '@jest/globals';
import { LitterboxError } from '../../domain/errors/errors.ts';
import type { ResourceUsage } from '../../ports/sandbox/sandbox-runtime.ts';
import { ReadCompute } from './read-compute.ts';

const call = (operation: string, outcome: string, durationMs?: number) => ({
  operation,
  outcome,
  atMs: Date.now() - 60_000,
  ...(durationMs !== undefined && { durationMs }),
});
const ENTRIES = [
  call('sandbox-run', 'ok', 1_500),
  call('sandbox-shell', 'error', 500.4),
  call('sandbox-status', 'ok', 90_000), // a look
  call('endpoint-request', 'ok', 90_000), // of a call that is counted already
  call('sandbox-run', 'unknown'), // its program was killed
  call('sandbox-edit', 'running'),
];

function reading(state: string, usage: () => Promise<ResourceUsage>) {
  const record = { id: '1', repositoryId: '2', slug: 'a', state };
  return new ReadCompute({
    findSandbox: { find: async () => record },
    audit: { entries: async () => ENTRIES },
    listSandboxes: { state: async () => state },
    openSandboxes: { runtime: async () => ({ usage }) },
  } as never);
}

it('adds up the calls over all sessions: one that goes on up to now, and one that was killed by itself', async () => {
  const use = await reading('ready', async () => ({ memoryBytes: 7, cpuMs: 3 })).read('a', false);
  expect(use).toEqual({ calls: 4, callMs: expect.any(Number), untimed: 1, now: { memoryBytes: 7, cpuMs: 3 } });
  expect(use.callMs).toBeGreaterThanOrEqual(62_000);
  expect(use.callMs).toBeLessThan(90_000);
});

it('asks a sandbox that rests what it used, none that is not there or where the sums are enough, and says why one cannot be asked', async () => {
  let asked = 0;
  const usage = async () => {
    asked++;
    throw new LitterboxError('UNAVAILABLE', 'The engine does not answer.', { operation: 'runtime.usage' });
  };
  const { now: _none, ...sums } = await reading('missing', usage).read('a', false);
  expect(sums).toEqual({ calls: 4, callMs: expect.any(Number), untimed: 1 });
  expect(await reading('stopped', async () => ({ cpuMs: 3 })).read('a', false)).toMatchObject({ now: { cpuMs: 3 } });
  expect(await reading('ready', usage).read('a', true)).not.toHaveProperty('now');
  expect(asked).toBe(0);
  expect(await reading('ready', usage).read('a', false)).toMatchObject({ unasked: 'The engine does not answer.' });
});
