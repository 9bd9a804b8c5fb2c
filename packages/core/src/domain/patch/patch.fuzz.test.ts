import { describe, expect, test } from '@jest/globals';
import { applyPatch as applyWithLibrary, createTwoFilesPatch } from 'diff';
import * as fc from 'fast-check';
import { applyPatch } from './apply-patch.ts';
import { isLitterboxError } from '../errors/errors.ts';
import { parsePatch } from './parse-patch.ts';
import { decodeRaw, encodeRaw } from '../text/raw-text.ts';

const runs = (count: number) => Math.ceil(count * Number(process.env['LITTERBOX_FUZZ_RUNS'] ?? 1));

// Few different lines, so that many places are alike.
const line = fc.constantFrom(
  '',
  'a',
  'b',
  'c',
  '-- a',
  '++ b',
  '@@ -1 +1 @@',
  '\\ No',
  ' ',
  'é',
  '\udcff',
  'a\r',
  '\r',
);
const text = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.boolean())
  .map(([lines, hasEnd]) => lines.join('\n') + (hasEnd && lines.length > 0 ? '\n' : ''));
/** The library takes what follows the last newline for an empty line, which we do not. */
const ended = fc
  .array(
    line.filter((one) => one !== ''),
    { minLength: 1, maxLength: 14 },
  )
  .map((lines) => `${lines.join('\n')}\n`);
const diffOf = (old: string, fresh: string, context: number) =>
  createTwoFilesPatch('a/x', 'b/x', old, fresh, undefined, undefined, { context });
const apply = (diff: string, current: string) => applyPatch(parsePatch(diff, 'x'), encodeRaw(current));

describe('patches', () => {
  test('that lead from one text to another do so exactly, and are known the second time', () => {
    fc.assert(
      fc.property(text, text, fc.integer({ min: 0, max: 4 }), (old, fresh, context) => {
        fc.pre(old !== fresh);
        const diff = diffOf(old, fresh, context);
        const outcome = apply(diff, old);
        expect(outcome.type === 'applied' && outcome.content && decodeRaw(outcome.content)).toBe(fresh);
        expect(outcome).not.toHaveProperty('shiftedBy');
        if (context === 0) return;
        // Where the old lines are at their places again, it is a change like any other.
        const again = apply(diff, fresh);
        if (again.type === 'applied') expect(again).not.toHaveProperty('shiftedBy');
      }),
      { numRuns: runs(3000) },
    );
  });

  test('fit another text just where those of the library do', () => {
    fc.assert(
      fc.property(ended, ended, ended, fc.integer({ min: 1, max: 3 }), (old, fresh, current, context) => {
        fc.pre(old !== fresh);
        const diff = diffOf(old, fresh, context);
        const byLibrary = applyWithLibrary(current, diff, { autoConvertLineEndings: false });
        let ours: string | false;
        try {
          const outcome = apply(diff, current);
          if (outcome.type === 'already-applied') return;
          ours = decodeRaw(outcome.content ?? new Uint8Array());
          // Both places may be right, so only one that fits nowhere is a difference.
          expect(byLibrary).not.toBe(false);
        } catch (error) {
          if (!isLitterboxError(error, 'PATCH_CONFLICT')) throw error;
          ours = false;
        }
        if (ours === false) expect(byLibrary).toBe(false);
      }),
      { numRuns: runs(3000) },
    );
  });

  const outcomeOf = (diff: string, current: string) => {
    try {
      const outcome = apply(diff, current);
      return outcome.type === 'applied' ? decodeRaw(outcome.content ?? new Uint8Array()) : outcome.type;
    } catch (error) {
      expect(isLitterboxError(error) && error.code).toMatch(/^PATCH_/);
      return 'refused';
    }
  };

  test('whose counts are wrong lead to the same text, or are refused', () => {
    let forgiven = 0;
    fc.assert(
      fc.property(text, text, fc.array(fc.nat(9), { minLength: 8 }), (old, fresh, counts) => {
        fc.pre(old !== fresh);
        let next = 0;
        const diff = diffOf(old, fresh, 2).replaceAll(
          /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@$/gm,
          (_header, one: string, other: string) =>
            `@@ -${one},${counts[next++ % 8]} +${other},${counts[next++ % 8]} @@`,
        );
        const outcome = outcomeOf(diff, old);
        if (outcome === fresh) forgiven += 1;
        expect([fresh, 'refused']).toContain(outcome);
      }),
      { numRuns: runs(3000) },
    );
    expect(forgiven).toBeGreaterThan(0);
  });

  const distinct = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'), { minLength: 2 });
  /** So alike that a guess would often be wrong. */
  const alike = fc
    .array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 10 })
    .map((lines) => lines.map((one) => `${one}\n`).join(''));
  const bare = (diff: string) => diff.replaceAll(/^@@ -.*$/gm, '@@');
  const ofCodex = (diff: string) =>
    `*** Begin Patch\n*** Update File: x\n${bare(diff).replace(/^[^@]*/, '')}*** End Patch\n`;
  test.each([
    ['whose hunks have no numbers', bare],
    ['as Codex writes them', ofCodex],
  ] as const)(
    '%s lead to the same text, or are refused; where no line is there twice they lead to it',
    (_title, form) => {
      fc.assert(
        fc.property(alike, alike, fc.integer({ min: 0, max: 2 }), (old, fresh, context) => {
          fc.pre(old !== fresh);
          expect([fresh, 'refused']).toContain(outcomeOf(form(diffOf(old, fresh, context)), old));
        }),
        { numRuns: runs(3000) },
      );
      fc.assert(
        fc.property(distinct, fc.nat(), fc.nat(), (lines, at, count) => {
          const old = lines.map((one) => `${one}\n`).join('');
          const changed = (lines as string[]).toSpliced(at % lines.length, count % 3, 'new', 'newer');
          const fresh = changed.map((one) => `${one}\n`).join('');
          const diff = form(diffOf(old, fresh, 1));
          expect(outcomeOf(diff, old)).toBe(fresh);
        }),
        { numRuns: runs(1000) },
      );
    },
  );

  const piece = fc.oneof(
    fc.constantFrom(
      '--- a/x\n',
      '+++ b/x\n',
      '--- /dev/null\n',
      '+++ /dev/null\n',
      'diff --git a/x b/x\n',
      '@@ -1 +1 @@\n',

      '@@ -1,2 +1,2 @@\n',
      '@@ -0,0 +1 @@\n',
      '@@ -1 +0,0 @@\n',
      '-a\n',
      '+b\n',
      ' c\n',
      '\n',
      '\r\n',
      '\\ No newline\n',

      'new file mode 100644\n',
      'deleted file mode 100644\n',
      'old mode 100755\n',
      'new mode 100644\n',
      'index 1..2\n',
      '--- "a/\\303',
      '"\n',
      'Index: x\n',
      '===\n',
      'diff -r a x\n',
      '@@ ',
      '@@\n',
      '@@ ... @@\n',
      '@@ c\n',
      '```diff\n',
      '```\n',
      '*** Begin Patch\n',
      '*** End Patch\n',
      '*** Update File: x\n',
      '*** Add File: x\n',
      '*** Move to: y\n',
      '*** End of File\n',
      '\0',
      '\ud800',
    ),
    fc.string({ unit: 'binary', maxLength: 5 }),
  );
  test('of any text are read, or refused by name', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), text, (pieces, current) => {
        try {
          apply(pieces.join(''), current);
        } catch (error) {
          expect(isLitterboxError(error) && error.code).toMatch(/^PATCH_/);
        }
      }),
      { numRuns: runs(5000) },
    );
  });

  test('that lost or gained a character anywhere do what they say, or are refused', () => {
    fc.assert(
      fc.property(text, text, fc.nat(), fc.constantFrom('', '\n', ' ', '+', '-', '@', '\\'), (old, fresh, at, put) => {
        fc.pre(old !== fresh);
        const diff = diffOf(old, fresh, 2);
        const index = at % diff.length;
        try {
          const outcome = apply(diff.slice(0, index) + put + diff.slice(index + 1), old);
          if (outcome.type !== 'applied') return;
          const count = (lines: string) => lines.split('\n').length;
          const change = count(decodeRaw(outcome.content ?? new Uint8Array())) - count(old);
          // A newline at the end may come or go with a line.
          expect(Math.abs(change - (outcome.addedLines - outcome.removedLines))).toBeLessThanOrEqual(1);
        } catch (error) {
          expect(isLitterboxError(error) && error.code).toMatch(/^PATCH_/);
        }
      }),
      { numRuns: runs(3000) },
    );
  });
});
