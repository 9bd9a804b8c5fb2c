import { expect, test } from '@jest/globals';
import type { AttachedProcess, OutputChunk } from 'litterbox';
import { ServedProcess, type Told } from './served-process.ts';

/** A process that prints a piece each time somebody wants one. */
function printing(pieces: number, bytes: number) {
  let given = 0;
  const attached = {
    timeoutMs: 1,
    process: {
      exit: Promise.resolve({ code: 0 }),
      async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk> {
        for (; given < pieces; given += 1) yield { type: 'stdout-data', bytes: new Uint8Array(bytes) };
      },
      write: async () => {},
      closeStdin: async () => {},
      kill: async () => {},
      async [Symbol.asyncDispose]() {},
    },
    finish: async () => ({ changedFiles: 0, warnings: [], moreWarnings: 0, hints: [] }),
    async [Symbol.asyncDispose]() {},
  } as unknown as AttachedProcess;
  return { attached, given: () => given };
}

test('a program whose output nobody takes is held back', async () => {
  const { attached, given } = printing(1000, 1024);
  const taken = Promise.withResolvers<void>();
  const served = new ServedProcess(attached, {
    isTerminal: false,
    hasInput: false,
    tell: async () => await taken.promise,
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(given()).toBe(0);
  taken.resolve();
  await served.ended;
  expect(given()).toBe(1000);
});

test('the last mebibyte is kept for who comes back', async () => {
  const { attached } = printing(40, 100_000);
  const told: Told[] = [];
  const served = new ServedProcess(attached, {
    isTerminal: false,
    hasInput: false,
    tell: async (one) => void told.push(one),
  });
  await served.ended;
  const { chunks, nextSequence, isClosed } = await served.read(0, 2 ** 30, 0);
  const kept = chunks.reduce((sum, { bytes }) => sum + bytes.length, 0);
  expect(kept).toBeLessThanOrEqual(2 ** 20);
  expect(kept).toBeGreaterThan(2 ** 20 - 2 ** 16);
  expect({ isClosed, last: told.at(-1)?.type }).toEqual({ isClosed: true, last: 'closed' });
  expect(nextSequence).toBe((chunks.at(-1)?.sequence ?? 0) + 1);
  expect(Math.max(...told.map((one) => (one.type === 'output' ? one.bytes.length : 0)))).toBeLessThanOrEqual(2 ** 16);
});
