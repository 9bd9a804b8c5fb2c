import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { jsonLine } from './json-line.ts';

test('any text comes back from the line, which holds nothing that a terminal obeys', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (texts) => {
      const line = jsonLine(texts);
      expect(JSON.parse(line)).toEqual(texts);
      expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b]/);
    }),
  );
  expect(jsonLine('\u009b2J\u202e')).toBe('"\\u009b2J\\u202e"\n');
});
