import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { ExitStatus, Host } from '@litterbox/core/provider';
import { SpareProgram } from './spare-program.ts';

const PATH = '/state/session-1';

/** A machine whose programs wait; each can be ended. */
class WaitingHost {
  readonly started: { readonly end: () => void; isDisposed: boolean }[] = [];

  asHost({ hasPipes = true } = {}): Host {
    const spawn = async () => {
      const { promise: exit, resolve } = Promise.withResolvers<ExitStatus>();
      const one = { end: () => resolve({ code: 0 }), isDisposed: false };
      this.started.push(one);
      return {
        exit,
        async *[Symbol.asyncIterator]() {},
        async [Symbol.asyncDispose]() {
          one.isDisposed = true;
          one.end();
        },
      };
    };
    return { spawn, ...(hasPipes && { pipes: {} }) } as unknown as Host;
  }
}

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

it('a client that made three has the fourth started ahead', async () => {
  const host = new WaitingHost();
  await using spare = new SpareProgram(host.asHost());
  for (const expected of [1, 2, 3]) {
    await using _served = spare.take(PATH);
    expect(host.started).toHaveLength(expected);
    spare.prepare(PATH);
    await jest.advanceTimersByTimeAsync(100);
  }
  expect(host.started).toHaveLength(4);
  await using fourth = spare.take(PATH);
  expect(host.started).toHaveLength(4);
  expect(fourth.isOver).toBe(false);
});

async function withSpare(host: WaitingHost): Promise<SpareProgram> {
  const spare = new SpareProgram(host.asHost());
  for (let made = 0; made < 3; made += 1) await spare.take(PATH)[Symbol.asyncDispose]();
  spare.prepare(PATH);
  await jest.advanceTimersByTimeAsync(100);
  expect(host.started).toHaveLength(4);
  return spare;
}

it('one that ended meanwhile, and one of another program, is not taken', async () => {
  for (const [path, isEnded] of [
    [PATH, true],
    ['/state/session-2', false],
  ] as const) {
    const host = new WaitingHost();
    await using spare = await withSpare(host);
    if (isEnded) host.started[3]?.end();
    await nextTurn();
    await using _served = spare.take(path);
    expect(host.started).toHaveLength(5);
  }
});

it('is ended with the client, and when nobody takes it', async () => {
  for (const end of [
    async (spare: SpareProgram) => await spare[Symbol.asyncDispose](),
    async () => await jest.advanceTimersByTimeAsync(3000),
  ]) {
    const host = new WaitingHost();
    await using spare = await withSpare(host);
    expect(host.started[3]?.isDisposed).toBe(false);
    await end(spare);
    expect(host.started[3]?.isDisposed).toBe(true);
  }
});

it('is started on this machine alone', async () => {
  const host = new WaitingHost();
  await using spare = new SpareProgram(host.asHost({ hasPipes: false }));
  for (let made = 0; made < 3; made += 1) await spare.take(PATH)[Symbol.asyncDispose]();
  spare.prepare(PATH);
  await jest.advanceTimersByTimeAsync(100);
  expect(host.started).toHaveLength(3);
});
