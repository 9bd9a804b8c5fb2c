import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { decodeRaw, encodeRaw } from './raw-text.ts';

const piece = fc.oneof(
  fc.uint8Array({ maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 4 }).map((text) => new TextEncoder().encode(text)),
  fc.constantFrom(
    ...['c080', 'eda080', 'edb3bf', 'f4908080', 'e282', 'f09f98', 'efbbbf', 'fffe', 'f8888080'].map((hex) =>
      Uint8Array.from(Buffer.from(hex, 'hex')),
    ),
  ),
);

test('bytes become text and the same bytes again, whatever they are', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const bytes = Uint8Array.from(pieces.flatMap((part) => [...part]));
      expect([...encodeRaw(decodeRaw(bytes))]).toEqual([...bytes]);
    }),
    { numRuns: 1000 },
  );
});

test('different bytes have different texts, valid ones their own', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 4 }), fc.uint8Array({ maxLength: 4 }), (one, two) => {
      expect(decodeRaw(one) === decodeRaw(two)).toBe(Buffer.compare(one, two) === 0);
    }),
  );
  expect(decodeRaw(new TextEncoder().encode('naïve 😀'))).toBe('naïve 😀');
  expect(decodeRaw(Uint8Array.of(0x61, 0xff))).toBe('a\udcff');
});

test('a lone surrogate that stands for no byte becomes the replacement character', () => {
  expect([...encodeRaw('\ud800')]).toEqual([0xef, 0xbf, 0xbd]);
  expect([...encodeRaw('\udc7f')]).toEqual([0xef, 0xbf, 0xbd]);
});
