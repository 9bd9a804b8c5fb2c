import assert from 'node:assert/strict';
import { isLitterboxError, type PooledSandbox, RepositoryId, SandboxId } from '@litterbox/core/provider';
import { assertAllAbort } from './assert-all-abort.ts';
import type { OpenedState, StateFixture, StateOptions } from './state-options.ts';

const ASSURANCE = { provider: 'overlayfs', mechanism: 'overlay', controls: [], readable: [] };
const idsOf = (sandboxes: readonly PooledSandbox[]) => [...sandboxes].map(({ id }) => id);

/** The contract of `SandboxPool`, executable: all that does not take a second process. */
export function describeSandboxPool({ name, runner, fixture: make }: StateOptions): void {
  const repositoryId = RepositoryId.make();
  const wanted = { repositoryId, provider: 'overlayfs', fingerprint: 'f0' };
  /** Adds one that is ready, and gives its id. */
  const ready = async ({ pool }: OpenedState) => {
    const { id } = await pool.add({ ...wanted, id: SandboxId.make() });
    await pool.offer(id, ASSURANCE);
    return id;
  };
  const check = (title: string, body: (opened: OpenedState, fixture: StateFixture) => Promise<void>) =>
    runner.it(
      title,
      async () => {
        await using fixture = make();
        await body(fixture.open(), fixture);
      },
      60_000,
    );

  runner.describe(`SandboxPool contract: ${name}`, () => {
    check(
      'one that is being made is taken by nobody; once it is ready the oldest one is, with what is known of it',
      async (opened) => {
        const { pool } = opened;
        const filling = await pool.add({ ...wanted, id: SandboxId.make() });
        assert.equal(filling.state, 'filling');
        assert.equal(await pool.take(wanted), undefined);
        const second = await ready(opened);
        await pool.offer(filling.id, ASSURANCE);
        await assert.rejects(pool.offer(filling.id, ASSURANCE), (error) => isLitterboxError(error, 'NOT_FOUND'));
        assert.deepEqual(
          [...(await pool.list(repositoryId))].map(({ state }) => state),
          ['ready', 'ready'],
        );
        assert.deepEqual(await pool.take(wanted), { ...filling, state: 'claimed', assurance: ASSURANCE });
        assert.equal((await pool.take(wanted))?.id, second);
        assert.equal(await pool.take(wanted), undefined);
        assert.deepEqual([...(await pool.abandoned())], []);
        await pool.remove(second);
        await pool.remove(second);
        assert.equal(await pool.get(second), undefined);
        assert.deepEqual(idsOf(await pool.list(RepositoryId.make())), []);
        assert.deepEqual(idsOf(await pool.list()), [filling.id]);
      },
    );

    check('what was decided otherwise is not taken: another repository, provider or fingerprint', async (opened) => {
      const id = await ready(opened);
      for (const other of [{ repositoryId: RepositoryId.make() }, { provider: 'docker' }, { fingerprint: 'f1' }])
        assert.equal(await opened.pool.take({ ...wanted, ...other }), undefined);
      assert.equal((await opened.pool.take(wanted))?.id, id);
    });

    check('what is ready is condemned by one, and taken by nobody then', async (opened) => {
      const { pool } = opened;
      const id = await ready(opened);
      assert.equal(await pool.condemn(id), true);
      assert.equal(await pool.condemn(id), false);
      assert.equal(await pool.take(wanted), undefined);
      assert.equal(await pool.condemn(SandboxId.make()), false);
    });

    check(
      "stores that take at once get different ones, and one is nobody else's until its store is closed",
      async (one, fixture) => {
        const [two, three] = [fixture.open(), fixture.open()];
        const ids = [await ready(one), await ready(one)];
        const got = await Promise.all([one, two].map(({ pool }) => pool.take(wanted)));
        assert.deepEqual(got.map((taken) => taken?.id).sort(), [...ids].sort());
        const [, second] = got;
        assert.ok(second);
        assert.deepEqual([...(await three.pool.abandoned())], []);
        assert.equal(await three.pool.condemn(second.id), false);
        await two.state[Symbol.asyncDispose]();
        assert.deepEqual(idsOf(await three.pool.abandoned()), [second.id]);
        // Whoever condemns one has it: two at once do not remove the same.
        const both = await Promise.all([one, three].map(({ pool }) => pool.condemn(second.id)));
        assert.deepEqual(both.sort(), [false, true]);
        assert.equal((await three.pool.get(second.id))?.state, 'condemned');
      },
    );

    check('an aborted call rejects with the reason of its caller and writes nothing', async ({ pool }) => {
      const id = SandboxId.make();
      await assertAllAbort((call) => ({
        add: () => pool.add({ ...wanted, id }, call),
        take: () => pool.take(wanted, call),
        get: () => pool.get(id, call),
        list: () => pool.list(undefined, call),
        remove: () => pool.remove(id, call),
      }));
      assert.deepEqual([...(await pool.list())], []);
    });
  });
}
