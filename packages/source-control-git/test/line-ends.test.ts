import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { begin, GitFixture, put, record } from './git-fixture.ts';

const ask = { arguments: [] as string[] };

const ATTRIBUTES = `* text=auto
*.txt text
*.lf text eol=lf
*.bat text eol=crlf
*.end eol=crlf
*.old crlf
*.in crlf=input
*.raw -text
*.bin binary
*.none !text !eol !crlf
`;
const ENDINGS = ['c', 'txt', 'lf', 'bat', 'end', 'old', 'in', 'raw', 'bin', 'none'];
const CONTENTS: Readonly<Record<string, string>> = {
  unix: 'one\ntwo\n',
  windows: 'one\r\ntwo\r\n',
  mixed: 'one\r\ntwo\n',
  alone: 'one\rtwo\r\n',
  zero: 'one\0two\r\n',
  control: 'a\x01b\x02\r\n',
  'printable-control': `${'a'.repeat(300)}\x01\x02\r\n`,
  end: 'one\r\n\x1a',
  empty: '',
};

describe('line ends of text', () => {
  test('FC-351: reach the person as git would have checked them in, whatever the attributes and the content', async () => {
    for (const integration of ['merge', 'apply'] as const) {
      await using fixture = new GitFixture();
      const root = fixture.repository({ '.gitattributes': ATTRIBUTES });
      const repository = await fixture.open(root);
      const id = await begin(repository);
      const files = Object.fromEntries(
        ENDINGS.flatMap((ending) =>
          Object.entries(CONTENTS).map(([name, content]) => [`${name}.${ending}`, content] as const),
        ),
      );
      await record(repository, id, { '.gitattributes': ATTRIBUTES, ...files });
      const plan = await repository.plan(id, { integration, ...ask });
      await repository.execute(plan, { autostash: false });
      if (integration === 'apply') fixture.git(root, 'commit', '-qm', 'taken');
      expect(fixture.git(root, 'status', '--porcelain')).toBe('');
      const ours = fixture.git(root, 'ls-files', '-s');

      const other = fixture.repository({ '.gitattributes': ATTRIBUTES });
      for (const [path, content] of Object.entries(files)) put(other, path, content);
      fixture.git(other, 'add', '-A');
      expect(ours).toBe(fixture.git(other, 'ls-files', '-s'));
      expect(Object.values(files).some((content) => content.includes('\r\n'))).toBe(true);
    }
  });

  test('stay in a file that had those of Windows before, and in a repository that says nothing of them', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ 'a.txt': 'one\r\n', 'b.txt': 'one\n' });
    put(root, '.gitattributes', '* text=auto\n');
    fixture.git(root, 'add', '.gitattributes');
    fixture.git(root, 'commit', '-qm', 'attributes');
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { '.gitattributes': '* text=auto\n', 'a.txt': 'one\r\ntwo\r\n', 'b.txt': 'one\r\n' });
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    // What differs by its line ends alone is no change.
    expect(plan.changes.map(({ path }) => path)).toEqual(['a.txt']);
    await repository.execute(plan, { autostash: false });
    expect(fixture.git(root, 'cat-file', 'blob', 'HEAD:a.txt')).toBe('one\r\ntwo\r\n');
    expect(fixture.git(root, 'status', '--porcelain')).toBe('');

    const plain = fixture.repository({ 'a.txt': 'one\n' });
    const other = await fixture.open(plain);
    const sandbox = await begin(other);
    await record(other, sandbox, { 'a.txt': 'one\r\n' });
    await other.execute(await other.plan(sandbox, { integration: 'merge', ...ask }), { autostash: false });
    expect(readFileSync(join(plain, 'a.txt'), 'latin1')).toBe('one\r\n');
  });

  test('are those of text in a milestone, and what a milestone holds is not taken twice', async () => {
    await using fixture = new GitFixture();
    const root = fixture.repository({ '.gitattributes': '*.txt text\n' });
    const repository = await fixture.open(root);
    const id = await begin(repository);
    await record(repository, id, { '.gitattributes': '*.txt text\n', 'a.txt': 'one\r\n' });
    const milestone = await repository.milestone(id, 'Write a');
    expect(fixture.git(root, 'cat-file', 'blob', `${milestone?.branch}:a.txt`)).toBe('one\n');
    fixture.git(root, 'merge', '-q', milestone?.branch ?? '');
    const plan = await repository.plan(id, { integration: 'merge', ...ask });
    expect(plan.upToDate).toBe(true);
    expect(await repository.isMerged(id)).toBe(true);
  });
});
