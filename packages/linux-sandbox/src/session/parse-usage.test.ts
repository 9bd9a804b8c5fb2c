import { expect, it } from '@jest/globals';
import { parseUsage } from './parse-usage.ts';

it('reads what a machine counts', () => {
  expect(parseUsage('4096\n1500000\n3\n')).toEqual({ memoryBytes: 4096, cpuMs: 1.5, processes: 3 });
  expect(parseUsage('4096\n\n3\n')).toEqual({ memoryBytes: 4096, processes: 3 });
});

it.each(['', 'NaN\n-1\n1e99\n', 'Infinity\n0x10\n 1\n', `${'9'.repeat(400)}\n`, '\u001b[2J\n1.5\n+2\n'])(
  'tells nothing of %j',
  (text) => {
    expect(parseUsage(text)).toEqual({});
  },
);
