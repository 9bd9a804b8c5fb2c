import { expect, test } from '@jest/globals';
import { withoutGitUsage } from './without-git-usage.ts';

const USAGE = `usage: git diff --no-index [<options>] <path> <path>

Diff output format options
    -p, --patch           generate patch
    --word-diff-regex <regex>
                          use <regex> to decide what a word is

Other diff options
    --[no-]ext-diff       allow an external diff helper to be executed

`;
const WARNING = 'warning: Not a git repository. Use --no-index to compare two paths outside a working tree\n';

test('the options of git diff are left out, and nothing that was printed around them', () => {
  expect(withoutGitUsage(`before\n${WARNING}${USAGE}  after\nend`)).toBe(
    `before\n${WARNING}[usage of git diff left out]\n  after\nend`,
  );
  expect(withoutGitUsage(`${WARNING}${USAGE.trimEnd()}`)).toBe(`${WARNING}[usage of git diff left out]\n`);
  expect(withoutGitUsage(`${USAGE}x\n${USAGE}`)).toBe(
    '[usage of git diff left out]\nx\n[usage of git diff left out]\n',
  );
});

test('other output stays as it is', () => {
  for (const text of [
    '',
    'a\n    -b\n',
    'usage: git log\n    -p\n',
    `echo '${USAGE}'`.replace(/^/, ' '),
    ' usage: git diff --no-index',
  ])
    expect(withoutGitUsage(text)).toBe(text);
});

test('time grows with the size alone', () => {
  const before = process.cpuUsage();
  withoutGitUsage(`usage: git diff --no-index \n${' '.repeat(1_000_000)}\n${'Ab '.repeat(300_000)}\n`);
  withoutGitUsage('usage: git diff --no-index \n'.repeat(100_000));
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(2000);
});
