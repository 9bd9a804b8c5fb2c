import { describe, expect, it } from '@jest/globals';
import type { FileChange } from '@litterbox/core';
import { statLines } from './stat-lines.ts';

const talk = { paint: (_format: unknown, text: string) => text };
const change = (
  path: string,
  addedLines?: number,
  removedLines?: number,
  more: Partial<FileChange> = {},
): FileChange => ({
  path,
  status: 'modified',
  executable: false,
  binary: false,
  ...(addedLines !== undefined && { addedLines }),
  ...(removedLines !== undefined && { removedLines }),
  ...more,
});
const CHANGES = [
  change('Makefile', 0, 0, { executable: true, wasExecutable: false }),
  change('src/a-longer-name.ts', 120, 7),
  change('x', 3, 0, { status: 'added' }),
  change('logo.png', undefined, undefined, { binary: true }),
  change('both', undefined, undefined),
];

describe('a line for each changed file', () => {
  it('is aligned, and a mode is told as one', () => {
    expect(statLines(talk, CHANGES, { isTTY: false, columns: 0 })).toEqual([
      '  M Makefile              mode 644 → 755',
      '  M src/a-longer-name.ts  +120 -7',
      '  A x                       +3 -0',
      '  M logo.png              binary',
      '  M both                  conflicts',
    ]);
  });

  it('has a bar on a terminal, and never more columns than the terminal', () => {
    const long = [...CHANGES, change(`${'deep/'.repeat(40)}end.ts`, 0, 500)];
    for (const columns of [40, 80, 200]) {
      const lines = statLines(talk, long, { isTTY: true, columns });
      expect({ columns, tooLong: lines.filter((line) => line.length > columns) }).toEqual({ columns, tooLong: [] });
      expect(lines.at(-1)).toMatch(/…?.*end\.ts +\+0 -500 {2}-+$/);
    }
    expect(statLines(talk, CHANGES, { isTTY: true, columns: 80 })[1]).toMatch(/\+120 -7 {2}\++-+$/);
  });
});
