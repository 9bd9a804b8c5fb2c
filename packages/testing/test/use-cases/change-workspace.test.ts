import { expect, test } from '@jest/globals';
import { LitterboxError } from '@litterbox/core/provider';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { made } from '../made.ts';

const failed = new Error('no');

const change = (fixture: UseCaseFixture, act: () => Promise<unknown>, more: object = {}) =>
  fixture.changeWorkspace.change({
    sandbox: 'a',
    operation: 'sandbox-test',
    trigger: { tool: 'test', subject: 'something' },
    input: {},
    act,
    ...more,
  });

test('what is changed while it acts is one revision, named in the log', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const { outcome, recorded } = await change(fixture, async () => {
    fixture.scribble('a', 'one', '1');
    fixture.scribble('a', 'two', '2');
    return 'done';
  });
  expect(outcome).toBe('done');
  expect(recorded.changedFiles).toBe(2);
  const [entry] = await fixture.readAudit.entries({ limit: 1 });
  expect(entry?.operation).toBe('sandbox-test');
  expect(entry?.result['revision']).toBe(recorded.revision?.commit);
});

test('what another program left unrecorded is a revision of its own, before it acts', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  fixture.scribble('a', 'left', 'x');
  await using next = fixture.restarted();
  await change(next, async () => next.scribble('a', 'new', 'x'));
  expect(next.subjects('a')).toEqual(['recovered: changes found before this call', 'test: something']);
});

test('a program looks once for what others left: what comes later belongs to its next call', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  await using next = fixture.restarted();
  await change(next, async () => {});
  next.scribble('a', 'late', 'x');
  await change(next, async () => {});
  expect(next.subjects('a')).toEqual(['test: something']);
});

test('what it changed before it failed is no revision of its own, and not lost', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const acting = change(fixture, async () => {
    fixture.scribble('a', 'half', 'x');
    throw failed;
  });
  await expect(acting).rejects.toBe(failed);
  expect(fixture.subjects('a')).toEqual([]);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-test: error');
  await change(fixture, async () => {});
  expect(fixture.subjects('a')).toHaveLength(1);
});

test('a check that refuses comes before the lease, and nothing is audited', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  await using _ = await fixture.state.lease(`sandbox:${id}`, 'other');
  const check = () => {
    throw failed;
  };
  await expect(change(fixture, async () => {}, { check })).rejects.toBe(failed);
  expect(await fixture.audited()).toEqual(['sandbox-create: ok']);
});

test('two calls in one sandbox come one after the other', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const order: string[] = [];
  const step = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${name} ends`);
  };
  await Promise.all([change(fixture, step('one')), change(fixture, step('two'))]);
  expect(order).toEqual(['one begins', 'one ends', 'two begins', 'two ends']);
});

test('who waits longer than it was told is BUSY, with who holds the sandbox', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  await using _ = await fixture.state.lease(`sandbox:${id}`, 'run: npm test');
  const acting = change(fixture, async () => {}, { waitMs: 50 });
  await fixture.clock.pass(50);
  await expect(acting).rejects.toMatchObject({
    code: 'BUSY',
    message: 'a is busy: "npm test" is still running (this process). Gave up after 0.1 s.',
    details: { hint: expect.not.stringContaining('end it') },
  });
});

test('calls of one program wait for each other as long as it takes, and who waits is told for whom', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  const held = await fixture.state.lease(`sandbox:${id}`, 'run: npm test');
  const told = Promise.withResolvers<string>();
  const order: string[] = [];
  const trigger = { tool: 'run', subject: 'x' };
  const acting = fixture.changeWorkspace.change(
    { sandbox: 'a', operation: 'sandbox-test', trigger, input: {}, act: async () => void order.push('acts') },
    { onProgress: ({ message }) => told.resolve(message) },
  );
  expect(await told.promise).toBe('waiting for "npm test" (this process)');
  order.push('is free');
  await held[Symbol.asyncDispose]();
  await acting;
  expect(order).toEqual(['is free', 'acts']);
});

test('a call that cannot be audited does not act', async () => {
  await using fixture = useCaseFixture({
    audit: (real) => ({
      start: (entry, options) =>
        entry.operation === 'sandbox-test'
          ? Promise.reject(new LitterboxError('AUDIT_UNAVAILABLE', 'full', { operation: 'test' }))
          : real.start(entry, options),
    }),
  });
  await made(fixture);
  let isActed = false;
  const acting = change(fixture, async () => {
    isActed = true;
  });
  await expect(acting).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
  expect(isActed).toBe(false);
});

test('what settles last may fail the call, when all is recorded', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const settled = () => {
    throw failed;
  };
  await expect(change(fixture, async () => fixture.scribble('a', 'new', 'x'), { settled })).rejects.toBe(failed);
  expect(fixture.subjects('a')).toEqual(['test: something']);
});

test('a sandbox whose runtime is gone is SANDBOX_RUNTIME_MISSING', async () => {
  const fixture = useCaseFixture();
  await made(fixture);
  fixture.shelves.sandboxes.sandboxes.clear();
  await using next = fixture.restarted();
  await expect(change(next, async () => {})).rejects.toMatchObject({
    code: 'SANDBOX_RUNTIME_MISSING',
    details: { hint: expect.stringContaining('recover("a")') },
  });
});
