import { expect, test } from '@jest/globals';
import { type PooledSandbox, RepositoryId, SandboxId } from '@litterbox/core/provider';
import { StateFixture } from './state-fixture.ts';
import { WorkerProcess } from './worker-process.ts';

const repositoryId = RepositoryId.make();
const wanted = { repositoryId, provider: 'overlayfs', fingerprint: 'f0' };
const ASSURANCE = { provider: 'overlayfs', mechanism: 'overlay', controls: [], readable: [] };
const idsOf = (sandboxes: readonly PooledSandbox[]) => sandboxes.map(({ id }) => id);

/** Adds one that is ready, and gives its id. */
async function ready({ pool }: ReturnType<StateFixture['open']>) {
  const { id } = await pool.add({ ...wanted, id: SandboxId.make() });
  await pool.offer(id, ASSURANCE);
  return id;
}

test("processes that take at once get different ones, and one is nobody else's until its process is dead", async () => {
  await using fixture = new StateFixture();
  const store = fixture.open();
  const ids = [await ready(store), await ready(store), await ready(store)] as const;
  const workers = Array.from(
    { length: 4 },
    () => new WorkerProcess(fixture.directory, 'claim', JSON.stringify(wanted)),
  );
  const got = await Promise.all(workers.map((worker) => worker.says()));
  expect(got.filter((id) => id !== null).sort()).toEqual([...ids].sort());
  expect(got.filter((id) => id === null)).toHaveLength(1);
  const { pool } = store;
  expect(await pool.abandoned()).toEqual([]);
  for (const id of ids) expect(await pool.condemn(id)).toBe(false);
  for (const worker of workers) await worker.kill();
  expect(idsOf(await pool.abandoned()).sort()).toEqual([...ids].sort());
  // Whoever condemns one has it: two at once do not remove the same.
  const [first] = ids;
  const both = await Promise.all([pool, fixture.open().pool].map((one) => one.condemn(first)));
  expect(both.sort()).toEqual([false, true]);
  expect((await pool.get(first))?.state).toBe('condemned');
  expect(await pool.abandoned()).toHaveLength(2);
});
