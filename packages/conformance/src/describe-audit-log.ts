import assert from 'node:assert/strict';
import { isLitterboxError, RepositoryId, SandboxId } from '@litterbox/core/provider';
import { assertAllAbort } from './assert-all-abort.ts';
import type { OpenedState, StateFixture, StateOptions } from './state-options.ts';

const START = { operation: 'sandbox-run', actor: 'cli', input: { command: 'npm test' } };

/** The contract of `AuditLog`, executable. That what was written cannot be changed unseen, each adapter tests by changing it. */
export function describeAuditLog({ name, runner, fixture: make }: StateOptions): void {
  const check = (title: string, body: (opened: OpenedState, fixture: StateFixture) => Promise<void>) =>
    runner.it(
      title,
      async () => {
        await using fixture = make();
        await body(fixture.open(), fixture);
      },
      60_000,
    );

  runner.describe(`AuditLog contract: ${name}`, () => {
    check('a call has a start and an end; the newest comes first', async ({ audit }) => {
      const sandbox = SandboxId.make();
      const repositoryId = RepositoryId.make();
      const finish = await audit.start({ ...START, sandbox, repositoryId });
      const [running, ...none] = await audit.entries({});
      assert.deepEqual(none, []);
      assert.ok(running);
      const { operation, actor, input, outcome } = running;
      assert.deepEqual({ operation, actor, input }, START);
      assert.equal(running.sandbox, sandbox);
      assert.equal(outcome, 'running');
      assert.deepEqual(running.result, {});
      await (await audit.start(START))('error', { code: 'TIMED_OUT' });
      await finish('ok', { exitCode: 0 });
      const entries = await audit.entries({});
      const [newest, oldest] = entries;
      assert.equal(entries.length, 2);
      assert.ok(newest && oldest);
      assert.equal(newest.sequence, 2);
      assert.equal(newest.outcome, 'error');
      assert.deepEqual(newest.result, { code: 'TIMED_OUT' });
      assert.equal(oldest.sequence, 1);
      assert.equal(oldest.outcome, 'ok');
      assert.deepEqual(oldest.result, { exitCode: 0 });
      assert.equal(typeof oldest.durationMs, 'number');
      assert.match(newest.hash, /^[0-9a-f]{64}$/);
      assert.notEqual(newest.hash, oldest.hash);
      assert.deepEqual([...(await audit.entries({ sandbox }))], [oldest]);
      assert.deepEqual([...(await audit.entries({ repositoryId, limit: 1 }))], [oldest]);
      assert.deepEqual([...(await audit.entries({ limit: 1 }))], [newest]);
      assert.deepEqual([...(await audit.entries({ repositoryId: RepositoryId.make() }))], []);
      assert.deepEqual(await audit.verify(), { entries: 4 });
      await assert.rejects(finish('ok', {}), (error) => isLitterboxError(error, 'INTERNAL'));
    });

    check(
      'what a closed store left open is ended as unknown, once, in the chain',
      async ({ state, audit }, fixture) => {
        const other = fixture.open().audit;
        await audit.start(START);
        assert.equal((await other.entries({}))[0]?.outcome, 'running');
        await state[Symbol.asyncDispose]();
        const [entry, ...none] = await other.entries({});
        assert.deepEqual(none, []);
        assert.equal(entry?.outcome, 'unknown');
        assert.deepEqual(entry.result, {});
        assert.deepEqual([...(await other.entries({}))], [entry]);
        assert.deepEqual(await other.verify(), { entries: 2 });
      },
    );

    check('stores that write at the same time make one chain', async ({ audit }, fixture) => {
      const logs = [audit, fixture.open().audit, fixture.open().audit];
      await Promise.all(
        logs.map(async (log) => {
          for (let count = 0; count < 10; count += 1)
            await (await log.start({ ...START, input: { count } }))('ok', { count });
        }),
      );
      assert.deepEqual(await audit.verify(), { entries: 60 });
      const hashes = [...(await audit.entries({}))].map(({ hash }) => hash);
      assert.equal(new Set(hashes).size, 30);
    });

    check('a long input is noted by its size and hash', async ({ audit }) => {
      await (await audit.start({ ...START, input: { command: 'x'.repeat(20_000) } }))('ok', {});
      const [entry] = await audit.entries({});
      assert.equal(entry?.input['bytes'], 20_014);
      assert.equal(typeof entry.input['sha256'], 'string');
      assert.ok(!('command' in entry.input));
    });

    check('an aborted call rejects with the reason of its caller and writes nothing', async ({ audit }) => {
      await assertAllAbort((call) => ({
        start: () => audit.start({ operation: 'a', actor: 'cli', input: {} }, call),
        entries: () => audit.entries({}, call),
        verify: () => audit.verify(call),
      }));
      assert.deepEqual([...(await audit.entries({}))], []);
    });
  });
}
