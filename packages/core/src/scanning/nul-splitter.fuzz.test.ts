import { expect, test } from '@jest/globals';
import { decodeRaw } from '../domain/raw-text.ts';
import * as fc from 'fast-check';
import { NulSplitter } from './nul-splitter.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));

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
