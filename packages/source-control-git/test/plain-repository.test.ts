import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { findPlainRepository } from '../src/person/plain-repository.ts';
import { GitFixture } from './git-fixture.ts';

type Make = (root: string, fixture: GitFixture) => string | void;

/** Places, as they are made of a repository; what is given back is where somebody stands. */
const PLAIN: Readonly<Record<string, Make>> = {
  'the top': () => {},
  'a directory of it': (root) => join(root, 'below/it'),
  'no commit yet': (root) => {
    rmSync(join(root, '.git/refs/heads/main'));
  },
  'a remote, a branch and an alias': (root, fixture) => {
    fixture.git(root, 'remote', 'add', 'origin', 'https://example.test/x.git');
    fixture.git(root, 'config', 'branch.main.merge', 'refs/heads/main');
    fixture.git(root, 'config', 'alias.st', 'status --short');
  },
};

const OTHER: Readonly<Record<string, Make>> = {
  'a linked work tree': (root, fixture) => {
    const linked = join(fixture.directory, 'linked');
    fixture.git(root, 'worktree', 'add', '-q', '-b', 'linked', linked);
    return linked;
  },
  'a link to where it is': (root, fixture) => {
    renameSync(join(root, '.git'), join(fixture.directory, 'away'));
    symlinkSync(join(fixture.directory, 'away'), join(root, '.git'));
  },
  'inside of it': (root) => join(root, '.git/objects'),
  'below a directory that may be bare': (root) => {
    writeFileSync(join(root, 'below/HEAD'), '');
    return join(root, 'below/it');
  },
  'a work tree elsewhere': (root, fixture) => void fixture.git(root, 'config', 'core.worktree', '/'),
  bare: (root, fixture) => void fixture.git(root, 'config', 'core.bare', 'true'),
  'bare by a key without a value': (root) => appendFileSync(join(root, '.git/config'), '[core]\n\tbare\n'),
  'a later format': (root, fixture) => void fixture.git(root, 'config', 'core.repositoryformatversion', '1'),
  'an extension': (root, fixture) => void fixture.git(root, 'config', 'extensions.worktreeConfig', 'true'),
  'a file that is included': (root, fixture) => void fixture.git(root, 'config', 'include.path', 'other'),
  'a value in quotes': (root) => appendFileSync(join(root, '.git/config'), '[a]\n\tb = "c\n'),
  'what is no configuration': (root) => appendFileSync(join(root, '.git/config'), '[core\n'),
  'a configuration that is too long': (root) => appendFileSync(join(root, '.git/config'), '\n'.repeat(70_000)),
  'a configuration that is a pipe': (root) => {
    rmSync(join(root, '.git/config'));
    execFileSync('mkfifo', [join(root, '.git/config')]);
  },
  'no configuration': (root) => rmSync(join(root, '.git/config')),
  'a HEAD that is none': (root) => writeFileSync(join(root, '.git/HEAD'), 'main\n'),
  'a HEAD that is a link': (root) => {
    rmSync(join(root, '.git/HEAD'));
    symlinkSync('refs/heads/main', join(root, '.git/HEAD'));
  },
  'no objects': (root) => rmSync(join(root, '.git/objects'), { recursive: true }),
  'no repository': (root) => rmSync(join(root, '.git'), { recursive: true }),
};

const standing = (fixture: GitFixture, make: Make) => {
  const root = fixture.repository({ 'below/it/a': '1' });
  return { root, start: realpathSync(make(root, fixture) ?? root) };
};

test.each(Object.entries(PLAIN))('found without git as git finds it: %s', async (_, make) => {
  await using fixture = new GitFixture();
  const { start } = standing(fixture, make);
  const said = ['--show-toplevel', '--absolute-git-dir', '--git-common-dir', '--show-object-format'].map((what) =>
    fixture.git(start, 'rev-parse', '--path-format=absolute', what).trimEnd(),
  );
  const { root, gitDirectory, commonDirectory, format } = findPlainRepository(start) ?? {};
  expect([root, gitDirectory, commonDirectory, format?.name]).toEqual(said);
});

test.each(Object.entries(OTHER))('left to git: %s', async (_, make) => {
  await using fixture = new GitFixture();
  expect(findPlainRepository(standing(fixture, make).start)).toBeUndefined();
});

(process.getuid?.() === 0 ? test : test.skip)('left to git: the repository of somebody else', async () => {
  await using fixture = new GitFixture();
  const { root, start } = standing(fixture, () => {});
  expect(findPlainRepository(start)).toMatchObject({ root });
  chownSync(join(root, '.git'), 12_345, 12_345);
  expect(findPlainRepository(start)).toBeUndefined();
  chownSync(join(root, '.git'), 0, 0);
  chownSync(root, 12_345, 12_345);
  expect(findPlainRepository(start)).toBeUndefined();
});
