import { decodeRaw } from '@litterbox/core/provider';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { NulSplitter } from './nul-splitter.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));

test('a text longer than any of ours is told, and is not kept', () => {
  const found: string[] = [];
  const splitter = new NulSplitter((text) => found.push(text));
  const chunk = new Uint8Array(1024).fill(0x41);
  splitter.push(Uint8Array.of(0x61, 0));
  for (let count = 0; count < 16; count++) splitter.push(chunk);
  expect({ found, isOverlong: splitter.isOverlong }).toEqual({ found: ['a'], isOverlong: false });
  splitter.push(chunk);
  expect(splitter.isOverlong).toBe(true);
});

test('names that find prints come out whole, wherever the stream was cut', () => {
  const name = fc.uint8Array({ maxLength: 8 }).map((bytes) => bytes.filter((byte) => byte !== 0));
  fc.assert(
    fc.property(fc.array(name, { maxLength: 8 }), fc.array(fc.nat(100), { maxLength: 12 }), (names, cuts) => {
      const bytes = Uint8Array.from(names.flatMap((one) => [...one, 0]));
      const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
      const found: string[] = [];
      const splitter = new NulSplitter((text) => found.push(text));
      for (const [index, from] of [0, ...places].entries())
        splitter.push(bytes.slice(from, places[index] ?? bytes.length));
      expect(found).toEqual(names.map(decodeRaw));
    }),
    { numRuns: runs(1000) },
  );
});
