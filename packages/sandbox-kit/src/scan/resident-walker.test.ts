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
