import { expect, test } from '@jest/globals';
import type { FileBlame } from '@litterbox/core';
import { blameLines } from './blame.ts';

const talk = { paint: (_colour: unknown, text: string) => text };

test('AX143: changed lines stand below their call, and hostile ones pass for none', () => {
  const made = { number: 3, commit: 'c', subject: 'run: gen', atMs: 0, body: '', trailers: [], milestone: false };
  const blame = {
    tip: 'c',
    changes: [
      {
        revision: 3,
        commit: 'c',
        firstLine: 9,
        lines: ['one', 'revision 1: \u001b[2K'],
        made: { ...made, call: 17, exitCode: 0, command: 'gen\n  9 | x' },
      },
      { revision: 4, commit: 'd', firstLine: 100, lines: ['\r'], made: { ...made, number: 4, subject: 'write: a' } },
    ],
  } as unknown as FileBlame;
  const lines = blameLines(talk, blame);
  expect(lines).toHaveLength(5);
  expect(lines[0]).toMatch(/^revision 3, call 17, exit 0: gen\S+ {2}9 \| x$/);
  expect(lines[1]).toBe('    9 | one');
  expect(lines[2]).toMatch(/^ {3}10 \| revision 1: /);
  expect(lines[3]).toBe('revision 4: write: a');
  expect(lines[4]).toMatch(/^ {2}100 \| /);
  expect(lines.join('')).not.toMatch(/[\n\r\u001b]/);
});
