import { describe, expect, test } from '@jest/globals';
import { applyPatch, type PatchOutcome } from './apply-patch.ts';
import { isLitterboxError, type LitterboxErrorCode } from '../errors/errors.ts';
import type { FilePatch } from './file-patch.ts';
import { parsePatch } from './parse-patch.ts';
import { decodeRaw, encodeRaw } from '../text/raw-text.ts';

const bytes = (text: string) => encodeRaw(text);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

/** What a call was refused with: its code and its message. */
function refusal(call: () => unknown): [LitterboxErrorCode | 'none', string] {
  try {
    call();
    return ['none', ''];
  } catch (error) {
    if (!isLitterboxError(error)) throw error;
    expect(error.details.hint).toEqual(expect.stringMatching(/./));
    expect(error.message.length).toBeLessThan(600);
    expect(error.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    return [error.code, error.message];
  }
}

/** The text a file has after a patch of hunks alone. */
function patched(diff: string, current: string | undefined, path = 'x'): string | undefined {
  const outcome = applyPatch(parsePatch(diff, path), current === undefined ? undefined : bytes(current));
  if (outcome.type === 'already-applied') return 'already-applied';
  return outcome.content && decodeRaw(outcome.content);
}

const HUNK = '@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n';
const GIT = 'diff --git a/x b/x\n';
const BEGIN = '*** Begin Patch\n';
const END = '*** End Patch\n';

describe('a diff of one file is read', () => {
  test.each<[title: string, diff: string, path: string, patch: Partial<FilePatch>]>([
    ['git headers', `${GIT}index 814f4a4..1d4f9f8 100644\n--- a/x\n+++ b/x\n${HUNK}`, 'x', { type: 'modify' }],
    ['names without prefixes', `--- x\n+++ x\n${HUNK}`, 'x', { type: 'modify' }],
    ['names with times', `--- x\t2026-01-01 10:00:00 +0100\n+++ x\t2026-01-01\n${HUNK}`, 'x', {}],
    ['names with ./', `--- ./x\n+++ ./x\n${HUNK}`, 'x', {}],
    ['mnemonic prefixes', `--- i/x\n+++ w/x\n${HUNK}`, 'x', {}],
    ['a directory that is called a', `--- a/a/x\n+++ b/a/x\n${HUNK}`, 'a/x', {}],
    ['an absolute path', `--- /tmp/x\n+++ /tmp/x\n${HUNK}`, '/tmp/x', {}],
    ['an absolute path with prefixes', `--- a/tmp/x\n+++ b/tmp/x\n${HUNK}`, '/tmp/x', {}],
    ['a quoted name', `--- "a/\\303\\244 \\"b\\"\\t"\n+++ "b/\\303\\244 \\"b\\"\\t"\n${HUNK}`, 'ä "b"\t', {}],
    ['a quoted name that is not UTF-8', `--- "a/\\344"\n+++ "b/\\344"\n${HUNK}`, '\udce4', {}],
    ['a name with spaces', `diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n${HUNK}`, 'a b', {}],
    ['hunks alone', HUNK, 'x', { type: 'modify' }],
    ['a diff that does not end with a newline', HUNK.trimEnd(), 'x', { type: 'modify' }],
    ['empty lines around', `\n${HUNK}\n\n`, 'x', {}],
    ['line ends of Windows', `--- a/x\n+++ b/x\n${HUNK}`.replaceAll('\n', '\r\n'), 'x', { type: 'modify' }],
    [
      'create',
      `${GIT}new file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n`,
      'x',
      { type: 'create', executable: false },
    ],
    [
      'create an empty file',
      `${GIT}new file mode 100755\nindex 0000000..e69de29\n`,
      'x',
      { type: 'create', executable: true, hunks: [] },
    ],
    ['create without git', '--- /dev/null\n+++ x\n@@ -0,0 +1 @@\n+a\n', 'x', { type: 'create' }],
    ['delete', `${GIT}deleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n`, 'x', { type: 'delete' }],
    [
      'delete an empty file',
      `${GIT}deleted file mode 100644\nindex e69de29..0000000\n`,
      'x',
      { type: 'delete', hunks: [] },
    ],
    ['a mode alone', `${GIT}old mode 100644\nnew mode 100755\n`, 'x', { type: 'modify', executable: true, hunks: [] }],
    ['diff -u', `diff -u a/x b/x\n--- a/x\n+++ b/x\n${HUNK}`, 'x', {}],
    ['Index and a rule', `Index: x\n===================\n--- x\n+++ x\n${HUNK}`, 'x', {}],
  ])('%s', (_title, diff, path, patch) => {
    expect(parsePatch(diff, path)).toMatchObject({ path, ...patch });
  });

  test('a removed line that looks like a header stays a line', () => {
    expect(patched('@@ -1,2 +1,2 @@\n--- a\n-+++ b\n+++ a\n++++ b\n', '-- a\n+++ b\n')).toBe('++ a\n+++ b\n');
  });
});

describe('bad patches', () => {
  const two = `@@ -1 +1 @@\n-a\n+b\n`;
  test.each<[title: string, diff: string, code: LitterboxErrorCode, words: string]>([
    [
      'B54: a hunk cut off by the next',
      `@@ -1,3 +1,3 @@\n a\n${two}`,
      'PATCH_CORRUPT',
      'hunk 1, line 3: expected 3 lines, got 1',
    ],
    ['B54: wrong counts without context', '@@ -5,3 +5,4 @@\n+x\n', 'PATCH_CORRUPT', 'expected 3 lines, got 0'],
    ['B54: wrong counts without a change', '@@ -1,3 +1,3 @@\n a\n', 'PATCH_CORRUPT', 'expected 3 lines, got 1'],
    ['B54: no numbers and no context', '@@ @@\n+x\n', 'PATCH_CORRUPT', 'hunk 1, line 2: it has neither numbers nor'],
    ['B54: no numbers and no change', '@@\n a\n', 'PATCH_CORRUPT', 'hunk 1, line 1: it changes no line'],
    ['B54: half of the numbers', '@@ -1,2 @@\n-a\n+b\n', 'PATCH_CORRUPT', '"@@ -1,2 @@" is not'],
    ['B54: a fence that does not end', `\`\`\`diff\n${two}`, 'PATCH_CORRUPT', 'line 1: "```diff"'],
    ['B54: a fence around nothing', '```diff\n```\n', 'PATCH_CORRUPT', 'it is empty'],
    ['B54: words before a fence', `Here:\n\`\`\`diff\n${two}\`\`\`\n`, 'PATCH_CORRUPT', 'line 1: "Here:"'],
    [
      'B54: a patch of Codex that is cut off',
      `${BEGIN}*** Update File: x\n-a\n+b\n`,
      'PATCH_CORRUPT',
      'does not end with',
    ],
    ['B54: a patch of Codex of nothing', `${BEGIN}${END}`, 'PATCH_CORRUPT', 'is none of *** Add File'],
    ['B54: a patch of Codex without hunks', `${BEGIN}*** Update File: x\n${END}`, 'PATCH_CORRUPT', 'it has no hunks'],
    ['B54: a patch of Codex with another line', `${BEGIN}*** Update File: x\n*b\n${END}`, 'PATCH_CORRUPT', 'line 3'],
    ['B54: a new file of Codex with an old line', `${BEGIN}*** Add File: x\n+a\n b\n${END}`, 'PATCH_CORRUPT', 'line 4'],
    ['B54: a deleted file of Codex with lines', `${BEGIN}*** Delete File: x\n-a\n${END}`, 'PATCH_CORRUPT', 'line 3'],
    ['B56: another path of Codex', `${BEGIN}*** Update File: y\n-a\n+b\n${END}`, 'PATCH_PATH_MISMATCH', '"y"'],
    [
      'B56: several files of Codex',
      `${BEGIN}*** Update File: x\n-a\n+b\n*** Delete File: y\n${END}`,
      'PATCH_MULTI_FILE',
      'line 5: another file starts',
    ],
    [
      'B56: two files, and wrong counts of the first',
      `--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\n--- a/y\n+++ b/y\n${two}`,
      'PATCH_MULTI_FILE',
      'line 6: another file starts',
    ],
    ['B54: a hunk of nothing', '@@ -1 +1 @@\n', 'PATCH_CORRUPT', 'hunk 1, line 1: expected 1 lines, got 0'],
    ['B54: a count of nothing', '@@ -0,0 +0,0 @@\n', 'PATCH_CORRUPT', 'hunk 1, line 1: it has no lines'],
    ['B54: a bad prefix', '@@ -1,2 +1,2 @@\n a\n*b\n', 'PATCH_CORRUPT', 'hunk 1, line 3: "*b" starts with none'],
    ['B54: a bad hunk header', '@@ -1,x +1 @@\n-a\n+b\n', 'PATCH_CORRUPT', 'hunk 1, line 1: "@@ -1,x +1 @@" is not'],
    ['B54: line 0', '@@ -0 +1 @@\n-a\n+b\n', 'PATCH_CORRUPT', 'hunk 1, line 1: lines are counted from 1'],
    [
      'B54: words before the headers',
      `Here is the patch:\n--- a/x\n+++ b/x\n${two}`,
      'PATCH_CORRUPT',
      'line 1: "Here is the patch:"',
    ],
    [
      'B54: words between hunks',
      `${two}and then\n@@ -3 +3 @@\n-a\n+b\n`,
      'PATCH_CORRUPT',
      'hunk 1, line 4: after it, "and then"',
    ],
    ['B54: words at the end', `${two}\`\`\`\n`, 'PATCH_CORRUPT', 'hunk 1, line 4: after it, "```"'],
    [
      'B54: a second mode',
      `${GIT}new file mode 100644\nnew file mode 100755\n`,
      'PATCH_CORRUPT',
      'line 3: a second new file mode',
    ],
    ['B54: one mode of two', `${GIT}new mode 100755\n`, 'PATCH_CORRUPT', 'one mode of two'],
    ['B54: no hunks', '--- a/x\n+++ b/x\n', 'PATCH_CORRUPT', 'it has no hunks'],
    ['B54: git headers alone', `${GIT}index 1..2 100644\n`, 'PATCH_CORRUPT', 'it has no hunks'],
    ['B54: --- alone', '--- a/x\n@@ -1 +1 @@\n-a\n+b\n', 'PATCH_CORRUPT', 'line 1: --- without +++'],
    ['B54: +++ alone', `+++ b/x\n${two}`, 'PATCH_CORRUPT', 'line 1: +++ without ---'],
    [
      'B54: a file from nothing to nothing',
      `--- /dev/null\n+++ /dev/null\n${two}`,
      'PATCH_CORRUPT',
      'creates and deletes',
    ],
    [
      'B54: a new file that has an old one',
      `${GIT}new file mode 100644\n--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+b\n`,
      'PATCH_CORRUPT',
      'its old file is not /dev/null',
    ],
    [
      'B54: a deleted file that has a new one',
      `${GIT}deleted file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-b\n`,
      'PATCH_CORRUPT',
      'its new file is not /dev/null',
    ],
    ['B54: a new file with old lines', `--- /dev/null\n+++ b/x\n${two}`, 'PATCH_CORRUPT', 'has lines of an old one'],
    [
      'B54: a line after the end',
      '@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n-b\n+a\n+b\n',
      'PATCH_CORRUPT',
      'hunk 1, line 4: a line follows',
    ],
    [
      'B54: no newline of no line',
      '@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n',
      'PATCH_CORRUPT',
      'hunk 1, line 2: no line stands before',
    ],
    ['B54: nothing', '', 'PATCH_CORRUPT', 'it is empty'],
    ['B54: empty lines', '\n \r\n\n', 'PATCH_CORRUPT', 'it is empty'],
    [
      'B56: two files',
      `--- a/x\n+++ b/x\n${two}--- a/y\n+++ b/y\n${two}`,
      'PATCH_MULTI_FILE',
      'line 6: another file starts',
    ],
    [
      'B56: two files of git',
      `${GIT}--- a/x\n+++ b/x\n${two}${GIT}--- a/x\n+++ b/x\n${two}`,
      'PATCH_MULTI_FILE',
      'line 7',
    ],
    [
      'B56: a mode and another file',
      `${GIT}old mode 100644\nnew mode 100755\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n${two}`,
      'PATCH_MULTI_FILE',
      'line 4',
    ],
    ['B56: headers twice', `--- a/x\n+++ b/x\n--- a/y\n+++ b/y\n${two}`, 'PATCH_MULTI_FILE', 'line 3'],
    ['B56: another path', `--- a/y\n+++ b/y\n${two}`, 'PATCH_PATH_MISMATCH', 'its header names "a/y"'],
    ['B56: another new path', `--- a/x\n+++ b/y\n${two}`, 'PATCH_PATH_MISMATCH', 'its header names "b/y"'],
    [
      'B56: another path in the line of git',
      `diff --git a/y b/y\n--- a/x\n+++ b/x\n${two}`,
      'PATCH_PATH_MISMATCH',
      '"a/y"',
    ],
    [
      'B56: another path of a mode',
      'diff --git a/y b/y\nold mode 100644\nnew mode 100755\n',
      'PATCH_PATH_MISMATCH',
      '"a/y"',
    ],
    [
      'B56: a line of git without names',
      'diff --git y\nold mode 100644\nnew mode 100755\n',
      'PATCH_CORRUPT',
      'has no names',
    ],
    ['B56: another path in Index', `Index: y\n--- x\n+++ x\n${two}`, 'PATCH_PATH_MISMATCH', '"y"'],
    ['B56: a directory above', `--- a/../x\n+++ b/../x\n${two}`, 'PATCH_PATH_MISMATCH', '"a/../x"'],
    [
      'B58: a rename',
      'diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n',
      'PATCH_UNSUPPORTED',
      'it is a rename',
    ],
    [
      'B58: a copy',
      'diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y\n',
      'PATCH_UNSUPPORTED',
      'it is a copy',
    ],
    ['B58: a merge', '@@@ -1,2 -1,2 +1,2 @@@\n  a\n', 'PATCH_UNSUPPORTED', 'combined diff'],
    ['B58: a binary file', `${GIT}index 1..2 100644\nBinary files a/x and b/x differ\n`, 'PATCH_BINARY', 'binary'],
    ['B58: a binary patch', `${GIT}index 1..2 100644\nGIT binary patch\nliteral 1\nIcmZ\n`, 'PATCH_BINARY', 'binary'],
    [
      'B58: a symbolic link',
      `${GIT}new file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n`,
      'PATCH_MODE_FORBIDDEN',
      '"120000"',
    ],
    [
      'B58: a link that stays one',
      `${GIT}index 1..2 120000\n--- a/x\n+++ b/x\n${two}`,
      'PATCH_MODE_FORBIDDEN',
      '"120000"',
    ],
    ['B58: a link that is deleted', `${GIT}deleted file mode 120000\n`, 'PATCH_MODE_FORBIDDEN', '"120000"'],
    ['B58: a submodule', `${GIT}new file mode 160000\n`, 'PATCH_MODE_FORBIDDEN', '"160000"'],
    ['B58: a set-uid bit', `${GIT}old mode 100755\nnew mode 104755\n`, 'PATCH_MODE_FORBIDDEN', '"104755"'],
    ['B58: a mode of other digits', `${GIT}new file mode 0100755\n`, 'PATCH_MODE_FORBIDDEN', '"0100755"'],
    ['B60: 50 MiB', `@@ -1 +1 @@\n${'-a\n'.repeat((50 << 20) / 3)}`, 'PATCH_TOO_LARGE', '16777216 bytes'],
    ['B60: a line of 100 MiB', `@@ -1 +1 @@\n-a\n+${'b'.repeat(100 << 20)}`, 'PATCH_TOO_LARGE', '16777216 bytes'],
    [
      'B60: 16 MiB of characters of several bytes',
      `@@ -1 +1 @@\n-a\n+${'€'.repeat(6 << 20)}`,
      'PATCH_TOO_LARGE',
      'bytes',
    ],
    ['B60: a million hunks', '@@ -1 +1 @@\n'.repeat(1_000_000), 'PATCH_TOO_LARGE', '100000 hunks'],
    ['B60: millions of lines', '\n'.repeat(5_000_000), 'PATCH_TOO_LARGE', '1000000 lines'],
    [
      'B60: a number above 2^31',
      '@@ -2147483649 +1 @@\n-a\n+b\n',
      'PATCH_CORRUPT',
      'hunk 1, line 1: a number is larger than 2^31',
    ],
    ['B60: a number of 400 digits', `@@ -1 +${'9'.repeat(400)} @@\n-a\n+b\n`, 'PATCH_CORRUPT', 'larger than 2^31'],
    ['B60: a count above 2^31', '@@ -1,4294967296 +1 @@\n-a\n+b\n', 'PATCH_CORRUPT', 'larger than 2^31'],
  ])('%s', (_title, diff, code, words) => {
    const before = process.cpuUsage();
    expect(refusal(() => parsePatch(diff, 'x'))).toEqual([code, expect.stringContaining(words)]);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000);
  });

  test('B60: headers made to keep a pattern busy take no longer than others', () => {
    for (const part of [
      'index 1..2 ',
      '.',
      '..a',
      ' b/',
      '"\\303',
      '-r a ',
      '= ',
      'diff -r ',
      '\t',
      '@@ -1',
      'Binary files ',
    ])
      for (const head of ['index ', 'diff --git a/', '--- "', '--- ', '@@ -1 +1 @@ ', 'Index: ', '']) {
        const before = process.cpuUsage();
        refusal(() =>
          parsePatch(`${head}${part.repeat(1_000_000 / part.length)} !\n+++ x\n@@ -1 +1 @@\n-a\n+b\n`, 'x'),
        );
        expect(process.cpuUsage(before).user / 1000).toBeLessThan(1000);
      }
  });
});

describe('a patch is applied', () => {
  test.each<[title: string, current: string | undefined, diff: string, after: string | undefined]>([
    ['a change', 'one\ntwo\nthree\n', HUNK, 'one\nTWO\nthree\n'],
    ['B59: line ends of Windows in both', 'one\r\ntwo\r\n', HUNK.replaceAll('\n', '\r\n'), 'one\r\nTWO\r\n'],
    [
      'B59: line ends of Windows below headers of Unix',
      'one\r\ntwo\r\n',
      '@@ -1,2 +1,2 @@\n one\r\n-two\r\n+TWO\r\n',
      'one\r\nTWO\r\n',
    ],
    [
      'B59: mixed line ends stay',
      'one\r\ntwo\nthree\r\nfour',
      '@@ -2 +2 @@\n-two\n+TWO\n',
      'one\r\nTWO\nthree\r\nfour',
    ],
    [
      'B59: no newline at the end, before and after',
      'one\ntwo',
      '@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+TWO\n\\ No newline at end of file\n',
      'one\nTWO',
    ],
    ['B59: a newline at the end is added', 'two', '@@ -1 +1 @@\n-two\n\\ No newline at end of file\n+two\n', 'two\n'],
    ['B59: a newline at the end is removed', 'two\n', '@@ -1 +1 @@\n-two\n+two\n\\ No newline at end of file\n', 'two'],
    [
      'B59: an end without newline that the patch does not touch',
      'one\ntwo\nthree',
      '@@ -1 +1 @@\n-one\n+ONE\n',
      'ONE\ntwo\nthree',
    ],
    ['B59: a byte order mark stays', '\ufeffone\ntwo\n', '@@ -2 +2 @@\n-two\n+TWO\n', '\ufeffone\nTWO\n'],
    ['B59: a byte order mark in context', '\ufeffone\ntwo\n', HUNK.replace(' one', ' \ufeffone'), '\ufeffone\nTWO\n'],
    [
      'B59: bytes that are not UTF-8 stay',
      'caf\udce9\0\ntwo\n\udcff',
      '@@ -2 +2 @@\n-two\n+TWO\n',
      'caf\udce9\0\nTWO\n\udcff',
    ],
    [
      'B59: bytes that are not UTF-8 in context',
      'caf\udce9\ntwo\n',
      '@@ -1,2 +1,2 @@\n caf\udce9\n-two\n+TWO \udcfe\n',
      'caf\udce9\nTWO \udcfe\n',
    ],
    ['an empty line of context that lost its space', 'a\n\nb\n', '@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n', 'a\n\nc\n'],
    [
      'such a line with an end of Windows',
      'a\r\n\r\nb\r\n',
      '@@ -1,3 +1,3 @@\r\n a\r\n\r\n-b\r\n+c\r\n',
      'a\r\n\r\nc\r\n',
    ],
    ['such a line at the end of the diff', 'b\n\n', '@@ -1,2 +1,2 @@\n-b\n+c\n\n', 'c\n\n'],
    ['lines after a line, without context', 'a\nb\n', '@@ -1,0 +2,2 @@\n+x\n+y\n', 'a\nx\ny\nb\n'],
    ['lines before all others', 'a\n', '@@ -0,0 +1 @@\n+x\n', 'x\na\n'],
    ['lines into an empty file', '', '@@ -0,0 +1 @@\n+x\n', 'x\n'],
    ['all lines go', 'a\nb\n', '@@ -1,2 +0,0 @@\n-a\n-b\n', ''],
    [
      'a file is created',
      undefined,
      '--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n',
      'a\nb',
    ],
    ['an empty file is created', undefined, `${GIT}new file mode 100644\n`, ''],
    [
      'a file is deleted',
      'a\nb',
      '--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n',
      undefined,
    ],
    ['an empty file is deleted', '', `${GIT}deleted file mode 100644\n`, undefined],
    ['a mode is changed', 'a\n', `${GIT}old mode 100644\nnew mode 100755\n`, 'a\n'],
    ['B55: applied before', 'one\nTWO\nthree\n', HUNK, 'already-applied'],
    ['B55: applied before, though it would fit further down', 'one\nTWO\none\ntwo\n', HUNK, 'already-applied'],
    ['B55: not applied before when it fits at its place', 'one\ntwo\none\nTWO\n', HUNK, 'one\nTWO\none\nTWO\n'],
    ['B55: created before', 'a\n', '--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n', 'already-applied'],
    ['B55: deleted before', undefined, '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n', 'already-applied'],
    ['B55: emptied before', '', '@@ -1 +0,0 @@\n-a\n', 'already-applied'],
  ])('%s', (_title, current, diff, after) => {
    expect(patched(diff, current)).toBe(after);
  });

  test('and says what it did', () => {
    const diff = `${GIT}old mode 100644\nnew mode 100755\n--- a/x\n+++ b/x\n${HUNK}@@ -5,1 +5,2 @@\n five\n+six\n`;
    const current = bytes('zero\none\ntwo\nthree\nfour\nfive\n');
    expect(applyPatch(parsePatch(diff, 'x'), current)).toEqual({
      type: 'applied',
      content: bytes('zero\none\nTWO\nthree\nfour\nfive\nsix\n'),
      executable: true,
      addedLines: 2,
      removedLines: 1,
      shiftedBy: 1,
      notes: [],
    } satisfies PatchOutcome);
  });

  test('at the nearest place, the later of two that are as near', () => {
    const diff = '@@ -4 +4 @@\n-x\n+y\n';
    expect(patched(diff, 'a\nb\nx\nb\nx\na\n')).toBe('a\nb\nx\nb\ny\na\n');
    expect(patched(diff, 'x\nb\nx\nb\na\na\n')).toBe('x\nb\ny\nb\na\na\n');
  });

  test('hunks stay in order and do not overlap', () => {
    const diff = '@@ -1 +1 @@\n-x\n+y\n@@ -2 +2 @@\n-x\n+z\n';
    expect(patched(diff, 'x\nx\n')).toBe('y\nz\n');
    expect(refusal(() => patched(diff, 'x\na\n'))[0]).toBe('PATCH_CONFLICT');
    expect(refusal(() => patched('@@ -2 +2 @@\n-b\n+y\n@@ -1 +1 @@\n-a\n+z\n', 'a\nb\n'))[0]).toBe('PATCH_CONFLICT');
  });
});

describe('what leaves no doubt is forgiven, and told', () => {
  const RECOUNTED = 'the counts in the header of hunk 1 were wrong; the lines were counted instead';
  const update = (body: string) => `${BEGIN}*** Update File: x\n${body}${END}`;
  const TWICE = 'def f():\n  a\n\ndef g():\n  a\n';
  test.each<[title: string, current: string | undefined, diff: string, after: string | undefined, note: string]>([
    ['counts that are too large', 'one\ntwo\n', HUNK.replaceAll(',2', ',9'), 'one\nTWO\n', RECOUNTED],
    ['counts that are too small', 'one\ntwo\n', HUNK.replaceAll(',2', ''), 'one\nTWO\n', RECOUNTED],
    ['counts of a hunk that has moved', 'zero\none\ntwo\n', HUNK.replaceAll(',2', ',3'), 'zero\none\nTWO\n', RECOUNTED],
    [
      'counts that end before an empty line',
      'one\n\ntwo\n',
      '@@ -1,1 +1,1 @@\n one\n\n-two\n+TWO\n',
      'one\n\nTWO\n',
      RECOUNTED,
    ],
    [
      'counts of one hunk of two',
      'a\nb\nc\nd\n',
      '@@ -1,7 +1,7 @@\n-a\n+A\n b\n@@ -4 +4 @@\n-d\n+D\n',
      'A\nb\nc\nD\n',
      RECOUNTED,
    ],
    ['counts of a new file', undefined, '--- /dev/null\n+++ b/x\n@@ -0,0 +1,9 @@\n+a\n+b\n', 'a\nb\n', RECOUNTED],
    ['counts of a deleted file', 'a\nb\n', '--- a/x\n+++ /dev/null\n@@ -1,9 +0,0 @@\n-a\n-b\n', undefined, RECOUNTED],
    ['a fence', 'one\ntwo\n', `\`\`\`diff\n--- a/x\n+++ b/x\n${HUNK}\`\`\`\n`, 'one\nTWO\n', 'the fence around'],
    [
      'no numbers',
      'a\none\ntwo\n',
      '@@ ... @@\n one\n-two\n+TWO\n',
      'a\none\nTWO\n',
      'hunk 1 without numbers: found at line 2',
    ],
    [
      'two bare headers',
      'a\nb\nc\n',
      '@@\n-a\n+A\n@@ @@\n-c\n+C\n',
      'A\nb\nC\n',
      'hunks 1 and 2 without numbers: found at lines 1 and 3',
    ],
    ['no numbers and a new file', undefined, '--- /dev/null\n+++ b/x\n@@ @@\n+a\n', 'a\n', ''],
    [
      'a line above instead of numbers',
      TWICE,
      '@@ def f(): @@\n-  a\n+  b\n',
      TWICE.replace('a', 'b'),
      'found at line 2',
    ],
    ['the second of two lines above', TWICE, '@@ def g():\n-  a\n+  b\n', 'def f():\n  a\n\ndef g():\n  b\n', 'line 5'],
    ['a patch of Codex', 'one\ntwo\n', update('@@\n one\n-two\n+TWO\n'), 'one\nTWO\n', 'found at line 1'],
    ['one without a header', 'one\ntwo\n', update(' one\n-two\n+TWO\n'), 'one\nTWO\n', 'found at line 1'],
    [
      'one of a file without a newline at its end',
      'one\ntwo',
      update('@@\n-two\n+TWO\n'),
      'one\nTWO',
      'found at line 2',
    ],
    ['one with lines above', TWICE, update('@@ def g():\n-  a\n+  b\n'), 'def f():\n  a\n\ndef g():\n  b\n', 'line 5'],
    [
      'one with a line above, and a line above that',
      `class A:\n${TWICE}`,
      update('@@ class A:\n@@ def g():\n-  a\n+  b\n'),
      'class A:\ndef f():\n  a\n\ndef g():\n  b\n',
      'line 6',
    ],
    ['one that adds after a line', 'a\nb\n', update('@@ a\n+x\n'), 'a\nx\nb\n', 'found at line 2'],
    ['one at the end', 'a\nb\na\n', update('@@\n-a\n+c\n*** End of File\n'), 'a\nb\nc\n', 'found at line 3'],
    ['one that adds at the end', 'a\n', update('@@\n+b\n*** End of File\n'), 'a\nb\n', 'found at line 2'],
    ['one of a new file', undefined, `${BEGIN}*** Add File: x\n+a\n+\n+b\n${END}`, 'a\n\nb\n', ''],
    ['one of a deleted file', 'whatever', `${BEGIN}*** Delete File: ./x\n${END}`, undefined, ''],
    ['one that moves a file', 'a\n', `${BEGIN}*** Update File: x\n*** Move to: y\n${END}`, 'a\n', ''],
    ['one in a fence', 'a\n', `\`\`\`\n${update('-a\n+b\n')}\`\`\``, 'b\n', 'the fence around the patch was left out'],
  ])('%s', (_title, current, diff, after, note) => {
    const outcome = applyPatch(parsePatch(diff, 'x'), current === undefined ? undefined : bytes(current));
    if (outcome.type !== 'applied') throw new Error(outcome.type);
    expect(outcome.content && decodeRaw(outcome.content)).toBe(after);
    expect(outcome.notes.join('; ')).toEqual(note === '' ? '' : expect.stringContaining(note));
  });

  test('applied before, as well', () => {
    expect(patched('@@\n a\n-b\n+B\n', 'a\nB\n')).toBe('already-applied');
    expect(patched(HUNK.replaceAll(',2', ',9'), 'one\nTWO\n')).toBe('already-applied');
    expect(refusal(() => patched('@@\n-a\n+b\n', 'c\nb\nb\n'))[0]).toBe('PATCH_CONFLICT');
  });

  test.each<[title: string, diff: string, current: string, words: string]>([
    [
      'no numbers and two places',
      '@@\n-a\n+b\n',
      'a\nc\na\n',
      'hunk 1 without numbers fits in 2 places, at lines 1 and 3',
    ],
    ['though the new line is there', '@@\n-a\n+b\n', 'a\nb\na\n', 'fits in 2 places, at lines 1 and 3'],
    ['no numbers and no place', '@@\n-a\n+b\n', 'c\n', 'hunk 1 without numbers: no line is "a"'],
    ['no numbers and lines that stand apart', '@@\n-a\n-b\n+c\n', 'a\nx\nb\n', 'do not stand together in this order'],
    ['a line above that is there twice', '@@ f\n-a\n+b\n', 'f\na\nf\na\n', 'fits in 2 places, at lines 2 and 4'],
    ['a line above that is not there', '@@ g\n-a\n+b\n', 'f\na\nf\na\n', 'below the lines that it names'],
    [
      'wrong counts and two places',
      '@@ -9,5 +9,5 @@\n-a\n+b\n',
      'a\nc\na\n',
      'hunk 1 with wrong counts fits in 2 places',
    ],
    ['line ends', update('@@\n-a\n+b\n'), 'a\r\n', 'line endings differ: file CRLF, patch LF'],
  ])('not so: %s', (_title, diff, current, words) => {
    expect(refusal(() => patched(diff, current))).toEqual(['PATCH_CONFLICT', expect.stringContaining(words)]);
  });
});

describe('patches that do not fit', () => {
  const create = '--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n';
  const remove = '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n';
  test.each<[title: string, diff: string, current: string | undefined, words: string]>([
    [
      'B55: other context',
      '@@ -9,2 +9,2 @@\n line 9\n-line X\n+x\n',
      numbered(20),
      'hunk 1 at line 9: line 10 should be "line X", but is "line 10"',
    ],
    [
      'B55: other context of the second hunk',
      `@@ -1 +1 @@\n-line 1\n+x\n@@ -3 +3 @@\n-a\n+b\n`,
      numbered(5),
      'hunk 2 at line 3: line 3 should be "a", but is "line 3"',
    ],
    [
      'B55: beyond the end',
      '@@ -9 +9 @@\n-a\n+b\n',
      'b\n',
      'hunk 1 at line 9: line 9 should be "a", but the file has 1 lines',
    ],
    ['B55: lines after a line that is not there', '@@ -9,0 +10 @@\n+b\n', 'b\n', 'hunk 1 at line 10'],
    [
      'B55: a part applied before',
      '@@ -1 +1 @@\n-line 1\n+x\n@@ -3 +3 @@\n-line 3\n+y\n',
      'x\nline 2\nline 3\n',
      'hunk 1 at line 1',
    ],
    ['B55: spaces differ', '@@ -1 +1 @@\n-  a\n+b\n', '\ta\n', 'should be "  a", but is "\\ta"'],
    ['B55: no such file', '@@ -1 +1 @@\n-a\n+b\n', undefined, 'there is no such file'],
    ['B55: a mode of no file', `${GIT}old mode 100644\nnew mode 100755\n`, undefined, 'there is no such file'],
    ['B55: a file to create that is there', create, 'a', 'is there with other content'],
    ['B55: a file to delete that has more lines', remove, 'a\nb\n', 'does not remove all of its lines'],
    ['B55: a file to delete that has other lines', remove, 'b\n', 'line 1 should be "a", but is "b"'],
    ['B55: a file to delete that should be empty', `${GIT}deleted file mode 100644\n`, 'a\n', 'does not remove all'],
    [
      'B59: line ends of Windows in the file',
      HUNK,
      'zero\r\none\r\ntwo\r\n',
      'hunk 1 at line 2: line endings differ: file CRLF, patch LF',
    ],
    [
      'B59: line ends of Windows in the patch',
      HUNK.replaceAll('\n', '\r\n'),
      'one\ntwo\n',
      'line endings differ: file LF, patch CRLF',
    ],
    ['B59: mixed line ends in the file', HUNK, 'one\r\ntwo\n', 'line endings differ: file mixed, patch LF'],
    ['B59: a byte order mark', HUNK, '\ufeffone\ntwo\n', 'it starts with a byte order mark'],
    [
      'B59: a newline that is not there',
      '@@ -1 +1 @@\n-a\n+b\n',
      'a',
      'line 1 should be "a", but has no newline at its end',
    ],
    [
      'B59: a newline that is there',
      '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n',
      'a\n',
      'should be "a" without a newline at its end, but has one',
    ],
    [
      'B59: an end in the middle',
      '@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n',
      'a\nc\n',
      'does not end where the file ends',
    ],
    ['B59: lines glued to a line without newline', '@@ -1,0 +2 @@\n+b\n', 'a', 'hunk 1 at line 2'],
    ['B60: a line of 10 MiB', '@@ -1 +1 @@\n-a\n+b\n', 'x'.repeat(10 << 20), 'line 1 should be "a", but is "xxx'],
  ])('%s', (_title, diff, current, words) => {
    expect(refusal(() => patched(diff, current))).toEqual(['PATCH_CONFLICT', expect.stringContaining(words)]);
  });
});

describe('time stays near to the size', () => {
  const within = (milliseconds: number, work: () => unknown) => {
    const before = process.cpuUsage();
    work();
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(milliseconds);
  };
  test('50,000 lines, 5,000 hunks, all of them moved', () => {
    const old = Array.from({ length: 50_000 }, (_, index) => `line ${index}\n`);
    const hunks = Array.from({ length: 5000 }, (_, hunk) => {
      const first = hunk * 10;
      return `@@ -${first + 1},3 +${first + 1},3 @@\n ${old[first]}-${old[first + 1]}+changed ${hunk}\n ${old[first + 2]}`;
    });
    const diff = hunks.join('');
    within(1000, () => {
      const text = patched(diff, `moved\nmoved\n${old.join('')}`);
      expect(text?.match(/changed/g)).toHaveLength(5000);
    });
  });
  test('B60: lines that are all alike', () => {
    const file = 'x\n'.repeat(200_000);
    const want = ' x\n'.repeat(5000);
    within(3000, () => {
      expect(refusal(() => patched(`@@ -1,5001 +1,5001 @@\n${want}-y\n+z\n`, file))).toEqual([
        'PATCH_CONFLICT',
        expect.stringContaining('too many places are alike'),
      ]);
    });
    const many = Array.from({ length: 20_000 }, () => `@@ -100000,3 +1,2 @@\n x\n-x\n x\n`).join('');
    within(3000, () => refusal(() => patched(many, file)));
    within(3000, () => refusal(() => patched(`@@ x\n${want}-y\n+z\n`, file)));
    within(3000, () => refusal(() => patched('@@ x\n-x\n+y\n'.repeat(50_000), file)));
    within(3000, () => refusal(() => patched('@@ -1,9 +1,9 @@\n-y\n+z\n'.repeat(50_000), file)));
  });
  test('B60: a place far outside', () => {
    within(1000, () => refusal(() => patched('@@ -2147483648 +2147483648 @@\n-a\n+b\n', numbered(100_000))));
  });
});
