import { expect, test } from '@jest/globals';
import { progressLine } from './progress-line.ts';

test('tells the step, its seconds once there are some, and what was printed last', () => {
  const step = { message: 'Setting up: npm ci' };
  expect(progressLine(step, 500, 80)).toBe('Setting up: npm ci …');
  expect(progressLine(step, 12_900, 80)).toBe('Setting up: npm ci … 12 s');
  expect(progressLine({ ...step, detail: 'added 7\tpackages' }, 12_900, 80)).toBe(
    'Setting up: npm ci … 12 s  added 7 packages',
  );
  const long = { message: `Setting up: ${'x'.repeat(100)}`, detail: 'added 7 packages' };
  expect(progressLine(long, 12_900, 80)).toMatch(/^Setting up: x+… 12 s {2}added 7 packages$/);
});

test('is one line that fits the terminal, whatever is in it', () => {
  const step = { message: `Setting up: ${'a long command\n'.repeat(20)}`, detail: 'b'.repeat(500) };
  for (const columns of [20, 40, 80, 300]) {
    const line = progressLine(step, 60_000, columns);
    expect({ columns, fits: line.length < columns, isOne: !/[\r\n]/.test(line) }).toEqual({
      columns,
      fits: true,
      isOne: true,
    });
    expect(line).toContain('60 s');
  }
});
