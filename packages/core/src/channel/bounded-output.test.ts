import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { BoundedOutput } from './bounded-output.ts';

test('what is kept is the head and the tail, however the stream was cut', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 40 }),
      fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 20 }),
      (maxBytes, chunks) => {
        const keeper = new BoundedOutput(maxBytes);
        for (const chunk of chunks) keeper.push(chunk);
        const all = chunks.flatMap((chunk) => [...chunk]);
        const { bytes, cutAt, droppedBytes } = keeper.kept();
        expect(bytes.length + droppedBytes).toBe(all.length);
        expect(bytes.length).toBe(Math.min(all.length, maxBytes));
        expect([...bytes.subarray(0, cutAt)]).toEqual(all.slice(0, cutAt));
        expect([...bytes.subarray(cutAt)]).toEqual(all.slice(cutAt + droppedBytes));
        expect([...keeper.kept().bytes]).toEqual([...bytes]); // asking changes nothing
      },
    ),
    { numRuns: 500 },
  );
});

test('a long stream of small pieces takes bounded memory and time', () => {
  const keeper = new BoundedOutput(1000);
  for (let count = 0; count < 200_000; count += 1) keeper.push(Uint8Array.of(count & 0xff, count >> 8, count >> 16));
  const { bytes, droppedBytes } = keeper.kept();
  expect(bytes.length).toBe(1000);
  expect(droppedBytes).toBe(599_000);
});

test('AX222: pieces of one byte take no memory of their own, where much is kept', () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const heldBytes = () => {
    gc();
    return process.memoryUsage().heapUsed;
  };
  const before = heldBytes();
  const keeper = new BoundedOutput(2 ** 21);
  for (let count = 0; count < 400_000; count += 1) keeper.push(Uint8Array.of(count & 0xff));
  expect(heldBytes() - before).toBeLessThan(30e6);
  expect(keeper.kept().bytes.length).toBe(400_000);
});
