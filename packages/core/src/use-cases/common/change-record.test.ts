import { expect, test } from '@jest/globals';
import { LitterboxError } from '../../domain/errors/errors.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { changeRecord } from './change-record.ts';
import { deletedMeanwhile } from './deleted-meanwhile.ts';

const record = { id: 'i', slug: 'a', state: 'ready', generation: 1 } as unknown as SandboxRecord;
/** A store of that record. */
const stateOf = (first: SandboxRecord): Pick<StateStore, 'get' | 'update'> => {
  let kept = first;
  return { get: async () => kept, update: async (_, change) => (kept = { ...kept, ...(change as object) }) };
};
const conflict = new LitterboxError('CONFLICT', 'no', { operation: 'test' });

test('a change that comes second is decided again, over what is there by then', async () => {
  const state = stateOf({ ...record, state: 'paused', generation: 2 });
  let isFirst = true;
  const update: typeof state.update = async (...args) => {
    if (!isFirst) return await state.update(...args);
    isFirst = false;
    throw conflict;
  };
  const seen: string[] = [];
  const changed = await changeRecord({ ...state, update }, record, (now) => {
    seen.push(now.state);
    return { mark: 'm' };
  });
  expect(seen).toEqual(['ready', 'paused']);
  expect(changed.state).toBe('paused');
  expect(changed.mark).toBe('m');
});

test('what is not to be changed stays', async () => {
  const state = stateOf(record);
  expect(await changeRecord(state, record, () => undefined)).toBe(record);
});

test('one that was deleted meanwhile is SANDBOX_NOT_FOUND, any other failure as it is', async () => {
  const failed = new Error('no');
  const gone = { get: async () => undefined, update: () => Promise.reject(conflict) };
  await expect(changeRecord(gone, record, () => ({}))).rejects.toMatchObject({ code: 'SANDBOX_NOT_FOUND' });
  const broken = { ...gone, update: () => Promise.reject(failed) };
  await expect(changeRecord(broken, record, () => ({}))).rejects.toBe(failed);
});

test('a failure in a sandbox that somebody deletes is SANDBOX_DELETING, with what it was', async () => {
  const failed = new Error('no');
  const state = (get: () => Promise<SandboxRecord | undefined>) => ({ get }) as never;
  expect(
    await deletedMeanwhile(
      state(async () => record),
      record,
      failed,
    ),
  ).toBe(failed);
  const reason = await deletedMeanwhile(
    state(async () => undefined),
    record,
    failed,
  );
  expect(reason).toMatchObject({ code: 'SANDBOX_DELETING', cause: failed });
  const deleting = { ...record, state: 'deleting' as const };
  expect(
    await deletedMeanwhile(
      state(async () => deleting),
      record,
      failed,
    ),
  ).toMatchObject({ code: 'SANDBOX_DELETING' });
  expect(
    await deletedMeanwhile(
      state(() => Promise.reject(conflict)),
      record,
      failed,
    ),
  ).toBe(failed);
});
