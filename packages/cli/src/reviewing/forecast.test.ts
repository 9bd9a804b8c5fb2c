import { expect, test } from '@jest/globals';
import { boundLines, conflictLine } from './forecast.ts';

test('a conflict names the two and the first files, hostile names on the line', () => {
  expect(conflictLine({ sandbox: 'a', paths: ['x'] })).toBe('a conflicts with your branch: x');
  const line = conflictLine({
    sandbox: 'a',
    other: 'b',
    paths: ['e\u001b[2J\nb conflicts', '2', '3', '4', '5', '6', '7'],
  });
  expect(line).toMatch(/^a conflicts with b: .*, 2, 3, 4, 5 and 2 more$/);
  expect(line).not.toMatch(/[\n\u001b]/);
});

test('the bounds are said, and a forecast without conflicts is more than silence', () => {
  expect(boundLines({ conflicts: [], compared: ['a', 'b'], leftOut: 0, untried: 0 })).toEqual([
    '2 sandboxes: no conflicts, by what is recorded.',
  ]);
  const found = { conflicts: [{ sandbox: 'a', paths: ['x'] }], compared: ['a'], leftOut: 3, untried: 9 };
  expect(boundLines(found)).toEqual([
    '3 older sandboxes were not compared.',
    '9 pairs of sandboxes were not tried: there are too many.',
  ]);
});
