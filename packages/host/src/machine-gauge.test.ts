import { expect, test } from '@jest/globals';
import { parseLoad } from './machine-gauge.ts';

const ANSWER = `0.52 0.58 0.59 1/971 12345
8
MemTotal:       16316412 kB
MemAvailable:   12345678 kB
`;

test('memory, processors and load are read from what the kernel tells', () => {
  expect(parseLoad(ANSWER, 3)).toEqual({
    memoryBytes: 16_316_412 * 1024,
    availableBytes: 12_345_678 * 1024,
    processors: 8,
    load: 0.52,
    roundTripMs: 3,
  });
});

test('a machine cannot offer more than it has', () => {
  const lie = ANSWER.replace('12345678', '999999999999');
  expect(parseLoad(lie, 0)?.availableBytes).toBe(16_316_412 * 1024);
});

test.each([
  ['nothing', ''],
  ['no memory', '0.52 0.58 0.59 1/971 12345\n8\n'],
  ['a kernel without MemAvailable', ANSWER.replace(/MemAvailable.*\n/, '')],
  ['no processors', ANSWER.replace('\n8\n', '\n0\n')],
  ['a load that is none', ANSWER.replace('0.52', '-1e9')],
  ['memory that is no number', ANSWER.replace('12345678', '0x10')],
  ['a number without end', ANSWER.replace('12345678', '9'.repeat(100))],
  ['a login shell that talks', `Welcome!\n${ANSWER}`],
])('%s is no answer', (_what, text) => {
  expect(parseLoad(text, 0)).toBeUndefined();
});
