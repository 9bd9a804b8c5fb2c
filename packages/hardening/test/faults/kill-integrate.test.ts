import { describe, expect, it } from '@jest/globals';
import { expectInvariants, type Scene, scene, userFile } from '../../src/index.ts';
import { INTEGRATE, MERGE, STASH } from './kill-points.ts';

const FILES = {
  'a.txt': 'one\ntwo\nthree\n',
  'gone.txt': 'gone\n',
  'mine.txt': 'mine\n',
  'dir/b.txt': 'b\n',
  '.gitattributes': '*.txt text\n',
};

/** A sandbox `a` that changes, adds and removes; the user has edits of his own in other files. */
async function prepared(): Promise<Scene> {
  const one = scene(FILES);
  await one.once(async (litterbox) => {
    const sandbox = await litterbox.create({ name: 'a' });
    const ran = await sandbox.run(
      'sed -i s/two/TWO/ a.txt; rm gone.txt; echo new >dir/new.txt; echo "*.bin binary" >>.gitattributes',
    );
    one.acknowledged.add(ran.recorded.revision?.commit ?? 'none');
  });
  one.file('mine.txt', 'mine, edited\n');
  one.file('untracked.txt', "not git's\n");
  one.git('update-index', '-q', '--refresh');
  one.accept();
  return one;
}

/** What of the user's repository git and a person see. */
function seen(one: Scene) {
  return {
    files: ['a.txt', 'gone.txt', 'dir/new.txt', 'mine.txt', 'untracked.txt', '.gitattributes'].map((path) =>
      userFile(one, path),
    ),
    status: one.git('--no-optional-locks', 'status', '--porcelain', '--branch'),
    commits: one.git('rev-list', '--count', 'HEAD'),
    stashes: one.git('stash', 'list'),
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
    await using one = await prepared();
    const before = seen(one);
    const death = await one.dying({ do: what, name: 'a' }, { failpoints: `${point}=kill` });
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    await one.once(async (litterbox) => await litterbox.reconcile());
    const after = seen(one);
    expect(after.files).toEqual(outcome === 'done' ? changed : unchanged);
    expect(after.stashes).toBe('');
    if (outcome === 'undone') expect(after).toEqual(before);
    expect(Number(after.commits) > Number(before.commits)).toBe(outcome === 'done' && what === 'merge');
    one.accept();
    await expectInvariants(one, `${what} killed at ${point}`);

    // Said again it works, and nothing happens twice.
    await one.once(async (litterbox) => {
      if (what === 'merge')
        expect(await litterbox.merge('a', { acceptRisky: true })).toMatchObject({ isDeleted: true });
      else if (outcome === 'undone') await litterbox.apply('a', { acceptRisky: true });
    });
    expect(seen(one).files).toEqual(changed);
    expect(Number(seen(one).commits)).toBeLessThanOrEqual(Number(before.commits) + 2);
    one.accept();
    await expectInvariants(one, `${what} said again after ${point}`);
  });

  it.each(Object.keys(STASH))('a merge that puts edits aside, killed at %s, gives them back', async (point) => {
    await using one = await prepared();
    one.file('a.txt', 'one\ntwo\nthree\nand mine\n');
    const before = seen(one);
    const death = await one.dying({ do: 'merge', name: 'a', autostash: true }, { failpoints: `${point}=kill` });
    expect(death).toMatchObject({ signal: 'SIGKILL' });
    await one.once(async (litterbox) => await litterbox.reconcile());
    expect(seen(one)).toEqual(before);
    one.accept();
    await expectInvariants(one, `killed at ${point}`);
    await one.once(async (litterbox) => {
      await litterbox.merge('a', { acceptRisky: true, autostash: true });
    });
    expect(userFile(one, 'a.txt')).toBe('one\nTWO\nthree\nand mine\n');
    one.accept();
    await expectInvariants(one, `merged after ${point}`);
  });
});
