import { describe, expect, test } from '@jest/globals';
import { decodeRaw, isLitterboxError, RepositoryId, SandboxId, slugify } from '@litterbox/core/provider';
import { newRecord } from './new-record.ts';
import { StateFixture } from './state-fixture.ts';
import { WorkerProcess } from './worker-process.ts';

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'resolved',
    (error: unknown) => (isLitterboxError(error) ? error.code : error),
  );

describe('records', () => {
  test('what was inserted is read back by id, by slug and in the list, in the order of insertion', async () => {
    await using fixture = new StateFixture();
    const { state } = fixture.open();
    const repositoryId = RepositoryId.make();
    const first = await state.insert(newRecord({ repositoryId, createdAtMs: 9 }));
    const second = await state.insert(newRecord({ repositoryId, slug: slugify('b').slug, createdAtMs: 1 }));
    const other = await state.insert(newRecord());
    expect(first.generation).toBe(1);
    expect(await state.get(first.id)).toEqual(first);
    expect(await state.find(repositoryId, second.slug)).toEqual(second);
    expect(await state.list(repositoryId)).toEqual([first, second]);
    expect(await state.list()).toEqual([first, second, other]);
    expect(await state.get(SandboxId.make())).toBeUndefined();
  });

  test('a file name that is not UTF-8 and control characters survive', async () => {
    await using fixture = new StateFixture();
    const repositoryRoot = `/home/${decodeRaw(Uint8Array.of(0xff, 0x61, 0xc3))}/\u0000\n"`;
    const { id } = await fixture.open().state.insert(newRecord({ repositoryRoot }));
    await fixture.close();
    expect((await fixture.open().state.get(id))?.repositoryRoot).toBe(repositoryRoot);
  });

  test('an update with an old generation is a conflict and changes nothing', async () => {
    await using fixture = new StateFixture();
    const { state } = fixture.open();
    const first = await state.insert(newRecord());
    const second = await state.update(first, { state: 'ready', mark: 'm1', setupLog: 'log' });
    expect(second).toMatchObject({ state: 'ready', mark: 'm1', setupLog: 'log', generation: 2 });
    await expect(state.update(first, { state: 'paused' })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('generation 2, not 1'),
      details: { hint: expect.any(String) },
    });
    const third = await state.update(second, { mark: null });
    expect(third).not.toHaveProperty('mark');
    expect(third.setupLog).toBe('log');
    await state.remove(first.id);
    await state.remove(first.id);
    expect(await codeOf(state.update(third, {}))).toBe('NOT_FOUND');
  });

  test('the same slug twice in a repository, and the same id twice, are refused', async () => {
    await using fixture = new StateFixture();
    const { state } = fixture.open();
    const record = newRecord();
    await state.insert(record);
    await expect(state.insert(newRecord({ repositoryId: record.repositoryId }))).rejects.toMatchObject({
      code: 'SANDBOX_EXISTS',
      message: expect.stringContaining('"fix-login"'),
      details: { hint: expect.stringContaining('litterbox delete fix-login') },
    });
    expect(await codeOf(state.insert(newRecord({ id: record.id })))).toBe('ALREADY_EXISTS');
  });

  test('eight processes with fifty compare-and-swaps each lose none', async () => {
    await using fixture = new StateFixture();
    const { state } = fixture.open();
    const { id } = await state.insert(newRecord());
    const workers = Array.from({ length: 8 }, () => new WorkerProcess(fixture.directory, 'increase', id, '50'));
    expect(await Promise.all(workers.map((worker) => worker.says()))).toEqual(Array(8).fill('done'));
    expect(await state.get(id)).toMatchObject({ setupLog: '400', generation: 401 });
  });

  test('two processes that make the same slug at once: one gets it, the other one SANDBOX_EXISTS', async () => {
    await using fixture = new StateFixture();
    for (const name of ['a', 'b', 'c']) {
      const change = JSON.stringify({ repositoryId: RepositoryId.make(), slug: name });
      const workers = [1, 2].map(() => new WorkerProcess(fixture.directory, 'insert', change));
      const said = await Promise.all(workers.map((worker) => worker.says()));
      expect(said.filter((value) => typeof value === 'string')).toHaveLength(1);
      expect(said).toContainEqual(expect.objectContaining({ code: 'SANDBOX_EXISTS' }));
    }
  });

  test('an aborted call rejects with the reason of its caller and writes nothing', async () => {
    await using fixture = new StateFixture();
    const { state, audit } = fixture.open();
    const reason = new Error('changed my mind');
    const signal = AbortSignal.abort(reason);
    const record = { ...newRecord(), generation: 1 };
    for (const call of [
      () => state.insert(record, { signal }),
      () => state.update(record, {}, { signal }),
      () => state.list(undefined, { signal }),
      () => state.lease('a', 'b', { signal }),
      () => state.begin({ operation: 'a', step: 'b' }, { signal }),
      () => state.publish({ type: 'a-b', data: {} }, { signal }),
      () => state.trust(record.repositoryId, 'hash', 'text', { signal }),
      () => audit.start({ operation: 'a', actor: 'cli', input: {} }, { signal }),
      () => audit.entries({}, { signal }),
      () => audit.verify({ signal }),
    ]) {
      await expect(call()).rejects.toBe(reason);
    }
    expect(await state.list()).toEqual([]);
    expect(await audit.entries({})).toEqual([]);
  });
});

describe('events and trust', () => {
  test('events of several processes are numbered without gaps and read on from any number', async () => {
    await using fixture = new StateFixture();
    const { state } = fixture.open();
    const workers = Array.from({ length: 4 }, () => new WorkerProcess(fixture.directory, 'publish', '100'));
    await Promise.all(workers.map((worker) => worker.says()));
    const all = await state.events(0);
    expect(all.map((event) => event.sequence)).toEqual(Array.from({ length: 400 }, (_, index) => index + 1));
    expect(await state.events(398)).toEqual(all.slice(398));
    expect(await state.events(10, { limit: 2 })).toEqual(all.slice(10, 12));
    const event = { type: 'sandbox-created', sandbox: SandboxId.make(), data: { nested: [1, null, { a: 'b' }] } };
    expect(await state.publish(event)).toMatchObject({ ...event, sequence: 401 });
  });

  test('trust is by repository and content; the text of the last one is kept', async () => {
    await using fixture = new StateFixture();
    const { state } = fixture.open();
    const [one, two] = [RepositoryId.make(), RepositoryId.make()];
    expect(await state.trustedText(one)).toBeUndefined();
    await state.trust(one, 'h1', 'first');
    await state.trust(one, 'h2', 'second \u0000 \udcff');
    expect(await state.isTrusted(one, 'h1')).toBe(true);
    expect(await state.isTrusted(two, 'h1')).toBe(false);
    expect(await state.trustedText(one)).toBe('second \u0000 \udcff');
    await state.trust(one, 'h1', 'first');
    expect(await state.trustedText(one)).toBe('first');
  });

  test('a store that was disposed says so', async () => {
    await using fixture = new StateFixture();
    const { state } = fixture.open();
    await state.list();
    await state[Symbol.asyncDispose]();
    await state[Symbol.asyncDispose]();
    expect(await codeOf(state.list())).toBe('DISPOSED');
  });
});
