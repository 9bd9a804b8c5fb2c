import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { useCaseFixture } from '../../src/index.ts';
import { inState, made } from '../made.ts';

test('a sandbox is opened once, however many ask at a time', async () => {
  const fixture = useCaseFixture();
  const record = await made(fixture);
  let opened = 0;
  await using next = fixture.restarted({
    provider: (real) => ({
      open(...args) {
        opened += 1;
        return real.open(...args);
      },
    }),
  });
  const both = await Promise.all([next.openSandboxes.get(record), next.openSandboxes.get(record)]);
  expect(both[0]).toBe(both[1]);
  expect(both[0].mayHoldUnrecorded).toBe(true);
  expect(opened).toBe(1);
});

test('one that could not be opened is tried again by the next call', async () => {
  const down = new LitterboxError('UNAVAILABLE', 'down', { operation: 'test' });
  const fixture = useCaseFixture();
  const record = await made(fixture);
  let isDown = true;
  await using next = fixture.restarted({
    provider: (real) => ({ open: (...args) => (isDown ? Promise.reject(down) : real.open(...args)) }),
  });
  await expect(next.openSandboxes.get(record)).rejects.toBe(down);
  isDown = false;
  expect((await next.openSandboxes.get(record)).runtime.id).toBe(record.id);
});

test('one that was closed is opened anew', async () => {
  await using fixture = useCaseFixture();
  const record = await made(fixture);
  const before = await fixture.openSandboxes.get(record);
  await fixture.openSandboxes.close(record.id);
  await fixture.openSandboxes.close(record.id);
  const after = await fixture.openSandboxes.get(record);
  expect(after).not.toBe(before);
  await expect(before.channel.run({ argv: ['true'] })).rejects.toMatchObject({ code: 'DISPOSED' });
});

for (const [state, code] of [
  ['creating', 'SANDBOX_BUSY'],
  ['paused', 'SANDBOX_PAUSED'],
  ['stopped', 'SANDBOX_STOPPED'],
  ['deleting', 'SANDBOX_DELETING'],
] as const)
  test(`a record that is ${state} is ${code}, with what to do`, async () => {
    await using fixture = useCaseFixture();
    await made(fixture);
    const record = await inState(fixture, 'a', state);
    expect(() => fixture.openSandboxes.get(record)).toThrow(expect.objectContaining({ code }));
  });

test('one whose setup failed can be looked into', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const record = await inState(fixture, 'a', 'setup-failed');
  expect((await fixture.openSandboxes.get(record)).runtime.id).toBe(record.id);
});

test('one of a provider that this program does not have is UNAVAILABLE, with those that it has', async () => {
  await using fixture = useCaseFixture();
  const record = await made(fixture);
  await expect(fixture.openSandboxes.providerOf({ provider: 'docker' })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('this program does not have it'),
    details: { hint: 'There are: memory.' },
  });
  expect((await fixture.openSandboxes.providerOf(record)).name).toBe('memory');
});

test('a runtime that is broken is told as it is', async () => {
  const fixture = useCaseFixture();
  const record = await made(fixture);
  const [sandbox] = fixture.shelves.sandboxes.sandboxes.values();
  if (sandbox) sandbox.state = 'broken';
  await using next = fixture.restarted();
  await expect(next.openSandboxes.get(record)).rejects.toMatchObject({ code: 'SANDBOX_BROKEN' });
});

test('a keeper that cannot be reached keeps nobody out', async () => {
  const config = '[container.ports]\nweb = 8000\n';
  const failed = new Error('no');
  const fixture = useCaseFixture({ config });
  const record = await made(fixture);
  await using next = fixture.restarted({ config, keepers: { ask: () => Promise.reject(failed) } });
  expect((await next.openSandboxes.get(record)).runtime.id).toBe(record.id);
});
