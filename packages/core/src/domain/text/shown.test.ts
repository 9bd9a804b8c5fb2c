import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { shown } from './shown.ts';

test('whatever the value, it stands on one line of at most 80 characters without anything invisible', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 120 }), fc.jsonValue()), (value) => {
      const text = shown(value);
      expect(text.length).toBeLessThanOrEqual(80);
      expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/);
    }),
  );
});

test.each([
  ['a"b\n', '"a\\"b\\n"'],
  ['\u202eevil', '"\\u202eevil"'],
  ['\u001b[31m', '"\\u001b[31m"'],
  [undefined, 'undefined'],
  [['a', 1], '["a",1]'],
  ['x'.repeat(200), `"${'x'.repeat(78)}…`],
])('%j is shown as %s', (value, text) => {
  expect(shown(value)).toBe(text);
});
