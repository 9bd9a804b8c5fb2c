import { describe, expect, it } from '@jest/globals';
import { expectInvariants, type FaultFixture, faultFixture, userFile, yesTo } from '../../src/index.ts';
import { INTEGRATE, MERGE, STASH } from './kill-points.ts';

const FILES = {
  'a.txt': 'one\ntwo\nthree\n',
  'gone.txt': 'gone\n',
  'mine.txt': 'mine\n',
  'dir/b.txt': 'b\n',
  '.gitattributes': '*.txt text\n',
};

/** A sandbox `a` that changes, adds and removes; the user has edits of his own in other files. */
async function prepared(): Promise<FaultFixture> {
  const fixture = faultFixture(FILES);
  await fixture.once(async (litterbox) => {
    const sandbox = await litterbox.create({ name: 'a' });
    const ran = await sandbox.run(
      'sed -i s/two/TWO/ a.txt; rm gone.txt; echo new >dir/new.txt; echo "*.bin binary" >>.gitattributes',
    );
    fixture.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
  });
  fixture.file('mine.txt', 'mine, edited\n');
  fixture.file('untracked.txt', "not git's\n");
  fixture.git('update-index', '-q', '--refresh');
  fixture.accept();
  return fixture;
}

/** What of the user's repository git and a person see. */
function seen(fixture: FaultFixture) {
  return {
    files: ['a.txt', 'gone.txt', 'dir/new.txt', 'mine.txt', 'untracked.txt', '.gitattributes'].map((path) =>
      userFile(fixture, path),
    ),
    status: fixture.git('--no-optional-locks', 'status', '--porcelain', '--branch'),
    commits: fixture.git('rev-list', '--count', 'HEAD'),
    stashes: fixture.git('stash', 'list'),
  };
}

const changed = [
  'one\nTWO\nthree\n',
  undefined,
  'new\n',
  'mine, edited\n',
  "not git's\n",
  '*.txt text\n*.bin binary\n',
];
const unchanged = ['one\ntwo\nthree\n', 'gone\n', undefined, 'mine, edited\n', "not git's\n", '*.txt text\n'];
const TABLE = [
  // An apply takes the same way as a merge but for the end: what it does to files, index and HEAD is looked at once more.
  ...Object.entries(INTEGRATE)
    .filter(([point]) =>
      /^(work-tree\.|integrate\.(after-(journal|files|head|index|unstash)|before-head)$)/.test(point),
    )
    .map(([point, outcome]) => ['apply', point, outcome] as const),
  ...Object.entries({ ...INTEGRATE, ...MERGE }).map(([point, outcome]) => ['merge', point, outcome] as const),
];

describe('an apply or merge', () => {
  it.each(TABLE)('%s killed at %s is %s after reconcile', async (what, point, outcome) => {
    await using fixture = await prepared();
    const before = seen(fixture);
    const death = await fixture.dying({ do: what, name: 'a' }, { failpoints: `${point}=kill` });
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    await fixture.once(async (litterbox) => await litterbox.reconcile());
    const after = seen(fixture);
    expect(after.files).toEqual(outcome === 'done' ? changed : unchanged);
    expect(after.stashes).toBe('');
    if (outcome === 'undone') expect(after).toEqual(before);
    expect(Number(after.commits) > Number(before.commits)).toBe(outcome === 'done' && what === 'merge');
    fixture.accept();
    await expectInvariants(fixture, `${what} killed at ${point}`);

    // Said again it works, and nothing happens twice.
    await fixture.once(async (litterbox) => {
      if (what === 'merge')
        expect(await litterbox.merge('a', await yesTo(litterbox, 'a'))).toMatchObject({ isDeleted: true });
      else if (outcome === 'undone') await litterbox.apply('a', await yesTo(litterbox, 'a'));
    });
    expect(seen(fixture).files).toEqual(changed);
    expect(Number(seen(fixture).commits)).toBeLessThanOrEqual(Number(before.commits) + 2);
    fixture.accept();
    await expectInvariants(fixture, `${what} said again after ${point}`);
  });

  it.each(Object.keys(STASH))('a merge that puts edits aside, killed at %s, gives them back', async (point) => {
    await using fixture = await prepared();
    fixture.file('a.txt', 'one\ntwo\nthree\nand mine\n');
    const before = seen(fixture);
    const death = await fixture.dying({ do: 'merge', name: 'a', autostash: true }, { failpoints: `${point}=kill` });
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    await fixture.once(async (litterbox) => await litterbox.reconcile());
    expect(seen(fixture)).toEqual(before);
    fixture.accept();
    await expectInvariants(fixture, `killed at ${point}`);
    await fixture.once(async (litterbox) => {
      await litterbox.merge('a', { ...(await yesTo(litterbox, 'a')), autostash: true });
    });
    expect(userFile(fixture, 'a.txt')).toBe('one\nTWO\nthree\nand mine\n');
    fixture.accept();
    await expectInvariants(fixture, `merged after ${point}`);
  });
});
