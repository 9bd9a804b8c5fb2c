import { expect, test } from '@jest/globals';
import { NetworkLedger } from '@litterbox/core';
import { LitterboxError, RepositoryId, SandboxId, type GateReport } from '@litterbox/core/provider';
import { memoryAudit, memoryState, StateShelf } from '@litterbox/memory';
import { handClock } from '../../src/index.ts';

const OPENED: GateReport = { type: 'opened', host: 'a.org', port: 443, rule: 'a.org', address: '192.0.2.1' };
const CLOSED: GateReport = { type: 'closed', host: 'a.org', port: 443, sentBytes: 5, receivedBytes: 6 };
const SPENDING = { name: 'a', amount: 1, most: 3, windowMs: 1_000_000 };

function opened() {
  const [clock, shelf] = [handClock(), new StateShelf()];
  const record = { id: SandboxId.make(), repositoryId: RepositoryId.make() };
  const audit = memoryAudit(shelf, clock);
  const disk = { isFull: false, tries: 0 };
  const write = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    disk.tries += 1;
    if (disk.isFull) throw new LitterboxError('DISK_FULL', 'full', { operation: 'test' });
    return await work();
  };
  const state = memoryState(shelf, clock);
  const books = new NetworkLedger(
    record,
    { ...audit, start: (...call) => write(() => audit.start(...call)) },
    { spend: (...call) => write(() => state.spend(...call)) },
    clock,
  );
  return {
    books,
    clock,
    disk,
    written: async () =>
      (await audit.entries({ sandbox: record.id, limit: 1000 }))
        .toReversed()
        .map(({ operation, input }) => [operation, input['leftOut'] ?? input['sentBytes']] as const),
  };
}

test('what cannot be written is told to who waits for it, and nothing is tried again before its time', async () => {
  const { books, clock, disk, written } = opened();
  disk.isFull = true;
  await expect(books.report(OPENED)).rejects.toMatchObject({ code: 'DISK_FULL' });
  disk.isFull = false;
  disk.tries = 0;
  await expect(books.report(OPENED)).rejects.toMatchObject({ code: 'DISK_FULL' });
  await expect(books.spend(SPENDING)).rejects.toMatchObject({ code: 'DISK_FULL' });
  expect(disk.tries).toBe(0);
  clock.advance(500);
  expect(await books.spend(SPENDING)).toBe(true);
  await books.report(OPENED);
  expect(await written()).toEqual([
    ['network-resumed', 0],
    ['network-opened', undefined],
  ]);
});

test('each failure makes the pause longer, up to a minute', async () => {
  const { books, clock, disk } = opened();
  disk.isFull = true;
  const pauses: number[] = [];
  for (let count = 0; count < 9; count += 1) {
    await expect(books.report(OPENED)).rejects.toThrow();
    disk.tries = 0;
    let pause = 0;
    for (; disk.tries === 0; pause += 250) {
      clock.advance(250);
      await expect(books.spend(SPENDING)).rejects.toThrow();
    }
    pauses.push(pause);
  }
  expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
});

test('what was let through and ended meanwhile is written as soon as it can be', async () => {
  const { books, clock, disk, written } = opened();
  await books.report(OPENED);
  disk.isFull = true;
  await expect(books.report(CLOSED)).rejects.toThrow();
  await expect(books.report({ type: 'left-out', count: 7 })).rejects.toThrow();
  for (let count = 0; count < 300; count += 1)
    await expect(books.report({ type: 'refused', reason: 'No.' })).rejects.toThrow();
  expect(books.isWritten).toBe(false);
  disk.isFull = false;
  clock.advance(500);
  await books.report(OPENED);
  expect(books.isWritten).toBe(true);
  const entries = await written();
  expect(entries.slice(0, 3)).toEqual([
    ['network-opened', undefined],
    ['network-resumed', 7 + 45],
    ['network-closed', 5],
  ]);
  expect(entries.at(-1)).toEqual(['network-opened', undefined]);
  expect(entries).toHaveLength(3 + 255 + 1);
});

test('at the end it is tried once more, whatever the time', async () => {
  const { books, disk, written } = opened();
  disk.isFull = true;
  await expect(books.report(CLOSED)).rejects.toThrow();
  await books.settled();
  expect(books.isWritten).toBe(false);
  disk.isFull = false;
  await books.settled();
  expect(books.isWritten).toBe(true);
  expect((await written()).map(([operation]) => operation)).toEqual(['network-resumed', 'network-closed']);
});
