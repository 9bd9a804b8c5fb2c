import { expect, test } from '@jest/globals';
import { useCaseFixture, type UseCaseFixture } from '../../src/index.ts';
import { inState, made } from '../made.ts';

const failed = new Error('no');
const look = (fixture: UseCaseFixture, see: () => Promise<unknown>, signal?: AbortSignal) =>
  fixture.inspectSandbox.inspect({ sandbox: 'a', operation: 'sandbox-look', input: {}, look: see }, { signal });

test('any number look at once, while somebody is at work, and each is audited', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  await using _ = await fixture.state.lease(`sandbox:${id}`, 'run');
  expect(await Promise.all([look(fixture, async () => 1), look(fixture, async () => 2)])).toEqual([1, 2]);
  expect((await fixture.audited()).slice(1)).toEqual(['sandbox-look: ok', 'sandbox-look: ok']);
});

test('a failure is told, and audited', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await expect(look(fixture, () => Promise.reject(failed))).rejects.toBe(failed);
  expect((await fixture.audited()).at(-1)).toBe('sandbox-look: error');
});

test('a failure in a sandbox that was deleted meanwhile is that', async () => {
  await using fixture = useCaseFixture();
  const { id } = await made(fixture);
  const see = async () => {
    await inState(fixture, 'a', 'deleting');
    throw failed;
  };
  await expect(look(fixture, see)).rejects.toMatchObject({ code: 'SANDBOX_DELETING' });
  await inState(fixture, 'a', 'ready');
  const gone = async () => {
    await fixture.state.remove(id);
    throw failed;
  };
  await expect(look(fixture, gone)).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
});

test('an abort is told as the reason of the caller', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  const controller = new AbortController();
  const see = async () => {
    controller.abort(failed);
    throw new Error('something else');
  };
  await expect(look(fixture, see, controller.signal)).rejects.toBe(failed);
});

test('a paused sandbox is not looked into, and the refusal is audited', async () => {
  await using fixture = useCaseFixture();
  await made(fixture);
  await fixture.changeRunState.change('a', 'paused');
  await expect(look(fixture, async () => {})).rejects.toMatchObject({ code: 'SANDBOX_PAUSED' });
  expect((await fixture.audited()).at(-1)).toBe('sandbox-look: error');
});
