import { describe, expect, it } from '@jest/globals';
import { splitHunk } from './split-hunk.ts';

const split = (heading: string, ...lines: readonly string[]) =>
  splitHunk({ heading: Buffer.from(heading), lines: lines.map((line) => Buffer.from(line)), firstChange: 4 }).map(
    (hunk) => [
      Buffer.from(hunk.heading).toString(),
      hunk.firstChange,
      hunk.lines.map((line) => Buffer.from(line).toString()),
    ],
  );

describe('a hunk', () => {
  it('is split into its changes, each with the lines around it and its own numbers', () => {
    expect(split('@@ -10,5 +10,6 @@ f() {', ' a', '-b', '+B', ' c', ' d', '+new', ' e')).toEqual([
      ['@@ -10,4 +10,4 @@ f() {', 4, [' a', '-b', '+B', ' c', ' d']],
      ['@@ -12,3 +12,4 @@ f() {', 5, [' c', ' d', '+new', ' e']],
    ]);
  });

  it('stays one where it is one, with a missing newline in it', () => {
    const lines = ['-b', '\\ No newline at end of file', '+B'];
    expect(split('@@ -1 +1 @@', ...lines)).toEqual([['@@ -1,1 +1,1 @@', 4, lines]]);
  });
});
