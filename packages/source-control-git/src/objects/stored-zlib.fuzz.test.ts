import { inflateSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { MAX_STORED_BYTES, storedZlib } from './stored-zlib.ts';

test('what is stored is inflated to the same bytes, up to the longest', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5000 }), (bytes) => {
      expect(inflateSync(storedZlib(bytes))).toEqual(Buffer.from(bytes));
    }),
  );
  for (const byte of [0, 1, 255]) {
    const longest = Buffer.alloc(MAX_STORED_BYTES, byte);
    expect(inflateSync(storedZlib(longest)).equals(longest)).toBe(true);
  }
});

test('a stream with a byte changed is refused', () => {
  const stream = storedZlib(Buffer.from('content'));
  stream[8] = (stream[8] ?? 0) ^ 1;
  expect(() => inflateSync(stream)).toThrow();
});
