import { type OutputChunk, type ProcessHandle } from '@litterbox/core/provider';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ResidentWalker } from './resident-walker.ts';

/** A program that finds nothing, and says so at once. */
function program(onEnd: () => void, answer = 'T 1.5 0.25 here\0E\0'): ProcessHandle {
  const chunks: OutputChunk[] = [];
  let wake = () => {};
  let isEnded = false;
  return {
    exit: new Promise(() => {}),
    async write() {
      chunks.push({ type: 'stdout-data', bytes: new TextEncoder().encode(answer) });
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        if (isEnded) return;
        const chunk = chunks.shift();
        if (chunk) yield chunk;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    async [Symbol.asyncDispose]() {
      isEnded = true;
      wake();
      onEnd();
    },
  } as Partial<ProcessHandle> as ProcessHandle;
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance', 'Date'] });
});
afterEach(() => {
  jest.useRealTimers();
});

test('it ends when nobody asks, and is started again for who does', async () => {
  let started = 0;
  let ended = 0;
  const spawn = async () => {
    started += 1;
    return program(() => (ended += 1));
  };
  const turn = async () => await new Promise((resolve) => setImmediate(resolve));
  await using walker = new ResidentWalker({ spawn, changes: '/changes' }, 1000);
  for (const round of [1, 2, 3]) {
    await walker.warm();
    for (const _ of [1, 2, 3]) {
      jest.advanceTimersByTime(999);
      await turn();
      expect(await walker.walk(undefined)).toMatchObject({
        now: { moment: '1.5', aheadSeconds: 0.25, bootId: 'here' },
        entries: [],
      });
    }
    expect({ started, ended }).toEqual({ started: round, ended: round - 1 });
    jest.advanceTimersByTime(1000);
    await turn();
    expect(ended).toBe(round);
  }
});

test('one that says more than any of ours is given up, and ended', async () => {
  let ended = 0;
  const endless = 'x'.repeat(200_000);
  const spawn = async () => program(() => (ended += 1), endless);
  await using walker = new ResidentWalker({ spawn, changes: '/changes' }, 1000);
  await walker.warm();
  expect(await walker.walk(undefined)).toBeUndefined();
  expect(ended).toBe(1);
});

test('one that tells without end is given up, and ended', async () => {
  let ended = 0;
  const some = 'f 1 644 0 a\0'.repeat(100_000);
  let told = 0;
  const spawn = async (): Promise<ProcessHandle> => {
    const one = program(() => (ended += 1));
    return {
      ...one,
      async *[Symbol.asyncIterator]() {
        for (; told < 1000; told += 1) yield { type: 'stdout-data', bytes: new TextEncoder().encode(some) };
      },
    };
  };
  await using walker = new ResidentWalker({ spawn, changes: '/changes' }, 1000);
  expect(await walker.walk(undefined)).toBeUndefined();
  expect(ended).toBe(1);
  expect(told).toBeLessThan(100);
});

test('one that stands still is given up, and ended', async () => {
  let ended = 0;
  const spawn = async () => program(() => (ended += 1), '');
  await using walker = new ResidentWalker({ spawn, changes: '/changes' }, 60_000, 1000);
  await walker.warm();
  const walking = walker.walk(undefined);
  for (const _ of [1, 2, 3]) await new Promise((resolve) => setImmediate(resolve));
  jest.advanceTimersByTime(1000);
  expect(await walking).toBeUndefined();
  expect(ended).toBe(1);
});

test.each(['T now 0 here', 'T 1.5', 'T 1e9.0 0 x', 'T  '])('a moment of %j is no answer', async (moment) => {
  const answers = moment === 'T 1.5' ? { moment: '1.5', bootId: '', isRough: false } : undefined;
  const spawn = async () => program(() => {}, `${moment}\0E\0`);
  await using walker = new ResidentWalker({ spawn, changes: '/changes' }, 1000);
  await walker.warm();
  const walk = await walker.walk(undefined);
  expect(walk?.now).toEqual(answers && { ...answers, aheadSeconds: Number.NaN });
});
