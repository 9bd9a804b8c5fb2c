import assert from 'node:assert/strict';
import {
  decodeRaw,
  isLitterboxError,
  type LitterboxErrorCode,
  RepositoryId,
  SandboxId,
  type Spending,
  type StateStore,
  slugify,
} from '@litterbox/core/provider';
import { assertAllAbort } from './assert-all-abort.ts';
import { eventually } from './eventually.ts';
import { fixtureRecord } from './fixture-record.ts';
import type { OpenedState, StateFixture, StateOptions } from './state-options.ts';

/**
 * The contract of `StateStore`, executable: all that does not take a second process. What becomes of the leases, entries and records
 * of a process that is killed, an adapter that is shared by processes tests by itself.
 */
export function describeStateStore({ name, runner, fixture: make }: StateOptions): void {
  const check = (title: string, body: (opened: OpenedState, fixture: StateFixture) => Promise<void>) =>
    runner.it(
      title,
      async () => {
        await using fixture = make();
        await body(fixture.open(), fixture);
      },
      60_000,
    );

  runner.describe(`StateStore contract, records: ${name}`, () => {
    check(
      'what was inserted is read back by id, by slug and in the list, in the order of insertion',
      async ({ state }) => {
        const repositoryId = RepositoryId.make();
        const first = await state.insert(fixtureRecord({ repositoryId, createdAtMs: 9 }));
        const second = await state.insert(fixtureRecord({ repositoryId, slug: slugify('b').slug, createdAtMs: 1 }));
        const other = await state.insert(fixtureRecord());
        assert.equal(first.generation, 1);
        assert.deepEqual(await state.get(first.id), first);
        assert.deepEqual(await state.find(repositoryId, second.slug), second);
        assert.deepEqual([...(await state.list(repositoryId))], [first, second]);
        assert.deepEqual([...(await state.list())], [first, second, other]);
        assert.equal(await state.get(SandboxId.make()), undefined);
      },
    );

    check('a file name that is not UTF-8 and control characters survive', async ({ state }, fixture) => {
      const repositoryRoot = `/home/${decodeRaw(Uint8Array.of(0xff, 0x61, 0xc3))}/\u0000\n"`;
      const { id } = await state.insert(fixtureRecord({ repositoryRoot }));
      await fixture.close();
      assert.equal((await fixture.open().state.get(id))?.repositoryRoot, repositoryRoot);
    });

    check('an update with an old generation is a conflict and changes nothing', async ({ state }) => {
      const first = await state.insert(fixtureRecord());
      const second = await state.update(first, { state: 'ready', mark: 'm1', setupLog: 'log' });
      const { mark, setupLog, generation } = second;
      assert.deepEqual(
        { state: second.state, mark, setupLog, generation },
        { state: 'ready', mark: 'm1', setupLog: 'log', generation: 2 },
      );
      await assert.rejects(state.update(first, { state: 'paused' }), (error) => {
        assert.ok(isLitterboxError(error, 'CONFLICT'));
        assert.match(error.message, /generation 2, not 1/);
        assert.equal(typeof error.details.hint, 'string');
        return true;
      });
      assert.deepEqual(await state.get(first.id), second);
      const unrecorded = { paths: ['', 'a'], total: 2 };
      const closed = await state.update(second, { mark: null, unrecorded });
      assert.ok(!('mark' in closed));
      assert.deepEqual([closed.setupLog, closed.unrecorded], ['log', unrecorded]);
      const third = await state.update(closed, { unrecorded: null });
      assert.ok(!('unrecorded' in third));
      await state.remove(first.id);
      await state.remove(first.id);
      await assert.rejects(state.update(third, {}), coded('NOT_FOUND'));
    });

    check('the same slug twice in a repository, and the same id twice, are refused', async ({ state }) => {
      const record = fixtureRecord();
      await state.insert(record);
      await assert.rejects(state.insert(fixtureRecord({ repositoryId: record.repositoryId })), (error) => {
        assert.ok(isLitterboxError(error, 'SANDBOX_EXISTS'));
        assert.match(error.message, /"fix-login"/);
        assert.match(error.details.hint ?? '', /just made\b.*another name/);
        return true;
      });
      await assert.rejects(state.insert(fixtureRecord({ id: record.id })), coded('ALREADY_EXISTS'));
    });

    check(
      'another store over the same state reads what this one wrote, and writes over it',
      async ({ state }, fixture) => {
        const other = fixture.open().state;
        const first = await state.insert(fixtureRecord());
        assert.deepEqual(await other.get(first.id), first);
        const second = await other.update(first, { state: 'ready' });
        assert.deepEqual([...(await state.list())], [second]);
        await assert.rejects(state.update(first, { state: 'paused' }), coded('CONFLICT'));
      },
    );

    check('an aborted call rejects with the reason of its caller and writes nothing', async ({ state }) => {
      const record = { ...fixtureRecord(), generation: 1 };
      const { id, repositoryId, slug } = record;
      await assertAllAbort((call) => ({
        insert: () => state.insert(record, call),
        update: () => state.update(record, {}, call),
        get: () => state.get(id, call),
        find: () => state.find(repositoryId, slug, call),
        list: () => state.list(undefined, call),
        remove: () => state.remove(id, call),
        lease: () => state.lease('a', 'b', call),
        begin: () => state.begin({ operation: 'a', step: 'b' }, call),
        publish: () => state.publish({ type: 'a-b', data: {} }, call),
        events: () => state.events(0, call),
        trust: () => state.trust(repositoryId, 'hash', 'text', call),
        spend: () => state.spend(repositoryId, { name: 'a', amount: 1, most: 1, windowMs: HOUR_MS }, call),
      }));
      assert.deepEqual([...(await state.list())], []);
      assert.deepEqual([...(await state.events(0))], []);
      assert.equal(await state.isTrusted(repositoryId, 'hash'), false);
      assert.equal(await state.spend(repositoryId, { name: 'a', amount: 1, most: 1, windowMs: HOUR_MS }), true);
      await using _free = await state.lease('a', 'b', { waitMs: 0 });
    });

    check('a store that was disposed says so', async ({ state }) => {
      await state.list();
      await state[Symbol.asyncDispose]();
      await state[Symbol.asyncDispose]();
      await assert.rejects(state.list(), coded('DISPOSED'));
    });
  });

  runner.describe(`StateStore contract, leases: ${name}`, () => {
    check('a lease waits for its turn, first come, first served', async ({ state }) => {
      const order: number[] = [];
      await Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          await using _lease = await state.lease('sandbox', `call ${index}`);
          order.push(index);
          await aWhile(1);
          order.push(index);
        }),
      );
      assert.deepEqual(
        order,
        Array.from({ length: 40 }, (_, index) => Math.floor(index / 2)),
      );
    });

    check('different resources do not wait for each other, however many there are', async ({ state }) => {
      const leases = await Promise.all(
        Array.from({ length: 30 }, (_, index) => state.lease(`r${index}`, 'all at once')),
      );
      for (const lease of leases) await lease[Symbol.asyncDispose]();
      await using again = await state.lease('r0', 'again');
      assert.equal(again.resource, 'r0');
    });

    check('who waits too long is told who holds it, and who disposes twice frees it once', async ({ state }) => {
      const held = await state.lease('sandbox:2', 'the first');
      for (const waitMs of [20, 0])
        await assert.rejects(state.lease('sandbox:2', 'mine', { waitMs }), (error) => {
          assert.ok(isLitterboxError(error, 'BUSY'));
          const { holderPid, holderPurpose } = error.details.facts ?? {};
          assert.equal(
            error.message,
            `"sandbox:2" is in use by process ${String(holderPid)} (the first) and was not free within ${waitMs} ms.`,
          );
          assert.equal(holderPurpose, 'the first');
          assert.equal(typeof error.details.hint, 'string');
          return true;
        });
      await held[Symbol.asyncDispose]();
      await using _ = await state.lease('sandbox:2', 'mine', { waitMs: 0 });
      await held[Symbol.asyncDispose]();
      await assert.rejects(state.lease('sandbox:2', 'another', { waitMs: 0 }), coded('BUSY'));
    });

    check('two stores exclude each other, and closing one leaves the lock of the other', async ({ state }, fixture) => {
      const two = fixture.open().state;
      await using _ = await state.lease('a', 'first');
      await assert.rejects(two.lease('a', 'second', { waitMs: 30 }), coded('BUSY'));
      await two[Symbol.asyncDispose]();
      await assert.rejects(fixture.open().state.lease('a', 'third', { waitMs: 30 }), coded('BUSY'));
    });

    check('closing a store frees what it holds', async ({ state }, fixture) => {
      await state.lease('a', 'first');
      await state[Symbol.asyncDispose]();
      await using _ = await fixture.open().state.lease('a', 'second', { waitMs: 0 });
    });

    check('a wait ends with the reason of its caller, and the queue goes on', async ({ state }) => {
      const held = await state.lease('a', 'first');
      const controller = new AbortController();
      const reason = new Error('no longer');
      const aborted = state.lease('a', 'second', { signal: controller.signal });
      const third = state.lease('a', 'third');
      const seen = aborted.catch((cause: unknown) => cause);
      await aWhile(10);
      controller.abort(reason);
      assert.equal(await seen, reason);
      await held[Symbol.asyncDispose]();
      await (await third)[Symbol.asyncDispose]();
    });
  });

  runner.describe(`StateStore contract, journal: ${name}`, () => {
    check('what a living store began is not interrupted; ended, it takes no step', async ({ state }) => {
      const entry = await state.begin({ operation: 'sandbox-delete', sandbox: SandboxId.make(), step: 'stop' });
      assert.equal(entry.step, 'stop');
      assert.deepEqual([...(await state.interrupted())], []);
      await state.step(entry.id, 'remove');
      await state.end(entry.id);
      await state.end(entry.id);
      await assert.rejects(state.step(entry.id, 'more'), coded('NOT_FOUND'));
      assert.deepEqual([...(await state.interrupted())], []);
    });

    check(
      'a store that was closed leaves its entries interrupted, another one keeps its own',
      async ({ state: one }, fixture) => {
        const two = fixture.open().state;
        const first = await one.begin({ operation: 'sandbox-create', step: 'a' });
        await two.begin({ operation: 'sandbox-create', step: 'b' });
        assert.deepEqual([...(await two.interrupted())], []);
        await one[Symbol.asyncDispose]();
        assert.deepEqual([...(await two.interrupted())], [first]);
      },
    );

    check('whoever takes the next step of an interrupted entry owns it', async ({ state: one }, fixture) => {
      const two = fixture.open().state;
      const { id } = await one.begin({ operation: 'sandbox-create', sandbox: SandboxId.make(), step: 'record' });
      await one[Symbol.asyncDispose]();
      await two.step(id, 'undo');
      assert.deepEqual([...(await two.interrupted())], []);
      await two[Symbol.asyncDispose]();
      const three = fixture.open().state;
      assert.deepEqual(
        [...(await three.interrupted())].map(({ step }) => step),
        ['undo'],
      );
      await three.end(id);
      assert.deepEqual([...(await three.interrupted())], []);
    });
  });

  runner.describe(`StateStore contract, events and trust: ${name}`, () => {
    check(
      'events of several stores are numbered without gaps and read on from any number',
      async ({ state }, fixture) => {
        const stores = [state, fixture.open().state, fixture.open().state];
        await Promise.all(
          stores.map(async (store) => {
            for (let count = 0; count < 10; count += 1) await store.publish({ type: 'test-event', data: { count } });
          }),
        );
        const all = [...(await state.events(0))];
        assert.deepEqual(
          all.map((event) => event.sequence),
          Array.from({ length: 30 }, (_, index) => index + 1),
        );
        assert.deepEqual([...(await state.events(28))], all.slice(28));
        assert.deepEqual([...(await state.events(10, { limit: 2 }))], all.slice(10, 12));
        const event = { type: 'sandbox-created', sandbox: SandboxId.make(), data: { nested: [1, null, { a: 'b' }] } };
        const { atMs: _, ...published } = await state.publish(event);
        assert.deepEqual(published, { ...event, sequence: 31 });
      },
    );

    check('trust is by repository and content; the text of the last one is kept', async ({ state }) => {
      const [one, two] = [RepositoryId.make(), RepositoryId.make()];
      assert.equal(await state.trustedText(one), undefined);
      await state.trust(one, 'h1', 'first');
      await state.trust(one, 'h2', 'second \u0000 \udcff');
      assert.equal(await state.isTrusted(one, 'h1'), true);
      assert.equal(await state.isTrusted(two, 'h1'), false);
      assert.equal(await state.trustedText(one), 'second \u0000 \udcff');
      await state.trust(one, 'h1', 'first');
      assert.equal(await state.trustedText(one), 'first');
    });
  });

  runner.describe(`StateStore contract, budgets: ${name}`, () => {
    check(
      "a budget is a repository's, by name, and outlives every program that spends of it",
      async (first, fixture) => {
        const [one, two] = [RepositoryId.make(), RepositoryId.make()];
        const of =
          (state: StateStore) =>
          (amount: number, more?: Partial<Spending>, repository = one) =>
            state.spend(repository, { name: 'sent:a', amount, most: 10, windowMs: HOUR_MS, ...more });
        const spend = of(first.state);
        assert.equal(await spend(6), true);
        assert.equal(await spend(5), false);
        assert.equal(await of(fixture.open().state)(4), true);
        assert.equal(await spend(1), false);
        assert.equal(await spend(0), true);
        assert.equal(await spend(10, { name: 'sent:b' }), true);
        assert.equal(await spend(10, {}, two), true);
        await fixture.close();
        const again = of(fixture.open().state);
        assert.equal(await again(1), false);
        assert.equal(await again(1, { most: 11 }), true);
      },
    );

    check('an item is paid for once', async ({ state }) => {
      const repository = RepositoryId.make();
      const spend = (item: string, most = 2) =>
        state.spend(repository, { name: 'names', item, amount: 1, most, windowMs: HOUR_MS });
      assert.deepEqual(
        [await spend('a'), await spend('b'), await spend('a'), await spend('c'), await spend('b')],
        [true, true, true, false, true],
      );
      assert.equal(await spend('c', 3), true);
    });

    check('so many at once get no more than there is', async ({ state }, fixture) => {
      const repository = RepositoryId.make();
      const stores = [state, fixture.open().state, fixture.open().state];
      const spent = await Promise.all(
        stores.flatMap((store) =>
          Array.from({ length: 10 }, () =>
            store.spend(repository, { name: 'a', amount: 1, most: 7, windowMs: HOUR_MS }),
          ),
        ),
      );
      assert.equal(spent.filter((one) => one).length, 7);
    });

    check('what was spent is there again when its window is over', async ({ state }) => {
      const repository = RepositoryId.make();
      const spend = () => state.spend(repository, { name: 'a', amount: 1, most: 1, windowMs: 200 });
      assert.equal(await spend(), true);
      await eventually(spend, (isThere) => isThere);
    });
  });
}

/** Longer than any test. */
const HOUR_MS = 3_600_000;

const coded = (code: LitterboxErrorCode) => (error: unknown) => isLitterboxError(error, code);

const aWhile = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
