import { expect, it } from '@jest/globals';
import { createOrRollBack, type CreateSteps } from './create-or-roll-back.ts';

/** Steps that note in which order they are asked. */
function noted(change: Partial<CreateSteps<AsyncDisposable>> = {}) {
  const order: string[] = [];
  const runtime: AsyncDisposable = {
    [Symbol.asyncDispose]: () => (order.push('close'), Promise.resolve()),
  };
  const note = (name: string) => () => (order.push(name), Promise.resolve());
  const steps: CreateSteps<AsyncDisposable> = {
    open: () => (order.push('open'), runtime),
    begin: note('begin'),
    remove: note('remove'),
    ...change,
  };
  return { order, runtime, steps };
}

const failed = new Error('failed');

it('a sandbox that begins is left alone', async () => {
  const { order, runtime, steps } = noted();
  expect(await createOrRollBack(steps)).toBe(runtime);
  expect(order).toEqual(['open', 'begin']);
});

it('one that does not begin is closed, then removed, before its failure is told', async () => {
  const { order, steps } = noted({ begin: () => Promise.reject(failed) });
  await expect(createOrRollBack(steps)).rejects.toBe(failed);
  expect(order).toEqual(['open', 'close', 'remove']);
});

it('one that cannot be opened is removed', async () => {
  const { order, steps } = noted({ open: () => Promise.reject(failed) });
  await expect(createOrRollBack(steps)).rejects.toBe(failed);
  expect(order).toEqual(['remove']);
});

it('who aborted hears the reason that they gave, once it is removed', async () => {
  const aborting = new AbortController();
  const { order, steps } = noted({ begin: () => (aborting.abort(failed), Promise.reject(new Error('ended'))) });
  await expect(createOrRollBack(steps, { signal: aborting.signal })).rejects.toBe(failed);
  expect(order).toEqual(['open', 'close', 'remove']);
});

it('one that began while it was aborted is removed', async () => {
  const aborting = new AbortController();
  const { order, steps } = noted({ begin: () => (aborting.abort(failed), Promise.resolve()) });
  await expect(createOrRollBack(steps, { signal: aborting.signal })).rejects.toBe(failed);
  expect(order).toEqual(['open', 'close', 'remove']);
});
