import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { isLitterboxError, type SourceRepository } from '@litterbox/core/provider';
import { git } from '../src/index.ts';
import { GitFixture, listeningGit } from './git-fixture.ts';

/** A repository, what is done to it once it is open, and whether git has to be asked about HEAD. */
interface Case {
  readonly make?: (fixture: GitFixture) => string;
  readonly change?: (root: string, fixture: GitFixture) => void;
  readonly asks?: true;
}

const one = (fixture: GitFixture) => fixture.repository({ a: '1' });
const withHead = (content: string | Uint8Array): Case => ({
  change: (root) => writeFileSync(join(root, '.git/HEAD'), content),
  asks: true,
});
const onBranch =
  (name: string) =>
  (root: string, fixture: GitFixture): void =>
    void fixture.git(root, 'checkout', '-q', '-b', name);

const CASES: Readonly<Record<string, Case>> = {
  'a loose branch': {},
  'a packed branch': { change: (root, fixture) => void fixture.git(root, 'pack-refs', '--all') },
  'a loose branch over a packed one': {
    change: (root, fixture) => {
      fixture.git(root, 'pack-refs', '--all');
      fixture.git(root, 'commit', '-q', '--allow-empty', '-m', 'second');
    },
  },
  'a packed branch below a longer and beside a shorter name': {
    change: (root, fixture) => {
      fixture.git(
        root,
        'update-ref',
        'refs/heads/x/main',
        fixture.git(root, 'commit-tree', '-m', 'x', 'HEAD^{tree}').trim(),
      );
      fixture.git(root, 'update-ref', 'refs/heads/main2', 'refs/heads/x/main');
      fixture.git(root, 'pack-refs', '--all');
    },
  },
  'a packed branch where a directory has its name': {
    change: (root, fixture) => {
      fixture.git(root, 'pack-refs', '--all');
      mkdirSync(join(root, '.git/refs/heads/main'), { recursive: true });
    },
  },
  'packed objects': { change: (root, fixture) => void fixture.git(root, 'gc', '-q') },
  'a linked work tree': {
    make: (fixture) => {
      fixture.git(one(fixture), 'worktree', 'add', '-q', '-b', 'linked', join(fixture.directory, 'linked'));
      return join(fixture.directory, 'linked');
    },
  },
  'objects named by SHA-256': { make: (fixture) => fixture.repository({ a: '1' }, 'long', '--object-format=sha256') },
  'a commit without files': { make: (fixture) => fixture.repository({}) },
  'a name with dots, pluses and dashes': { change: onBranch('fix/v1.2.x+more-{1}') },
  'a name with a dollar, parentheses and a quote': { change: onBranch(`a$(b)'"|c`) },
  'a name beyond ASCII': { change: onBranch('grün/分支') },
  'a branch of ours': { change: onBranch('litterbox/work') },
  'no newline at the end of the branch': {
    change: (root) => {
      const path = join(root, '.git/refs/heads/main');
      writeFileSync(path, readFileSync(path, 'latin1').trimEnd());
    },
    asks: true,
  },
  'a branch in capitals': {
    change: (root) => {
      const path = join(root, '.git/refs/heads/main');
      writeFileSync(path, readFileSync(path, 'latin1').toUpperCase());
    },
    asks: true,
  },
  'a branch that names nothing': {
    change: (root) => writeFileSync(join(root, '.git/refs/heads/main'), `${'1'.repeat(40)}\n`),
    asks: true,
  },
  'a branch that names a tree': {
    change: (root, fixture) =>
      writeFileSync(join(root, '.git/refs/heads/main'), fixture.git(root, 'rev-parse', 'HEAD^{tree}')),
    asks: true,
  },
  'a branch that is empty': { change: (root) => writeFileSync(join(root, '.git/refs/heads/main'), ''), asks: true },
  'a branch that names another one': {
    change: (root, fixture) => {
      fixture.git(root, 'branch', 'other');
      fixture.git(root, 'symbolic-ref', 'refs/heads/main', 'refs/heads/other');
    },
    asks: true,
  },
  'a branch that is a link to another one': {
    change: (root, fixture) => {
      fixture.git(root, 'branch', 'other');
      rmSync(join(root, '.git/refs/heads/main'));
      symlinkSync('refs/heads/other', join(root, '.git/refs/heads/main'));
    },
    asks: true,
  },
  'a tree that is not there': {
    change: (root, fixture) => {
      const tree = fixture.git(root, 'rev-parse', 'HEAD^{tree}').trim();
      rmSync(join(root, '.git/objects', tree.slice(0, 2), tree.slice(2)));
    },
    asks: true,
  },
  'a detached HEAD': { change: (root, fixture) => void fixture.git(root, 'checkout', '-q', '--detach'), asks: true },
  'an unborn branch': {
    change: (root, fixture) => void fixture.git(root, 'checkout', '-q', '--orphan', 'new'),
    asks: true,
  },
  'a HEAD that is a link': {
    change: (root) => {
      rmSync(join(root, '.git/HEAD'));
      symlinkSync('refs/heads/main', join(root, '.git/HEAD'));
    },
    asks: true,
  },
  'a HEAD without a newline': withHead('ref: refs/heads/main'),
  'a HEAD with CRLF': withHead('ref: refs/heads/main\r\n'),
  'a HEAD with more blanks': withHead('ref:   refs/heads/main \n'),
  'a HEAD outside of branches': withHead('ref: refs/tags/v1\n'),
  'a HEAD with dots that lead up': withHead('ref: refs/heads/../heads/main\n'),
  'a HEAD of two lines': withHead('ref: refs/heads/main\nref: refs/heads/other\n'),
  'a HEAD that is no UTF-8': withHead(Buffer.from('ref: refs/heads/gr\xfcn\n', 'latin1')),
  'garbage in HEAD': withHead('garbage\n'),
  'an empty HEAD': withHead(''),
  'a HEAD as with refs in tables': withHead('ref: refs/heads/.invalid\n'),
};

async function outcomeOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return isLitterboxError(error) ? { code: error.code, message: error.message } : error;
  }
}

async function outcomeAndQuestions(asked: ReturnType<typeof listeningGit>['asked'], work: () => Promise<unknown>) {
  let outcome: unknown;
  const questions = await asked(async () => (outcome = await outcomeOf(work)));
  return { outcome, isAsked: /symbolic-ref|rev-parse|batch-check/.test(questions) };
}

describe('HEAD read without git is what git says', () => {
  test.each(Object.entries(CASES))('%s', async (_, { make = one, change, asks = false }) => {
    await using fixture = new GitFixture();
    const root = make(fixture);
    const { path, asked } = listeningGit(fixture);
    await using control = git({ stateDirectory: fixture.state, environment: fixture.environment, gitBinary: path });
    const repository = await control.open(root);
    const shared = resolve(root, fixture.git(root, 'rev-parse', '--git-common-dir').trim());
    change?.(root, fixture);
    const base = () => repository.base({ type: 'head' });
    const first = await outcomeAndQuestions(asked, base);
    expect(first.isAsked).toBe(asks);
    appendFileSync(join(shared, 'config'), '# promisor: so that git is asked\n');
    const second = await outcomeAndQuestions(asked, base);
    expect(second.isAsked).toBe(true);
    expect(first.outcome).toEqual(second.outcome);
    expect(second.outcome).toEqual(expect.objectContaining(asks ? {} : { commit: expect.any(String) }));
  });

  test('whether refs are in tables', async () => {
    await using fixture = new GitFixture();
    const made = await outcomeOf(async () => fixture.repository({ a: '1' }, 'tables', '--ref-format=reftable'));
    if (typeof made !== 'string') return; // a git before 2.45 has none
    const { path, asked } = listeningGit(fixture);
    await using control = git({ stateDirectory: fixture.state, environment: fixture.environment, gitBinary: path });
    const repository: SourceRepository = await control.open(made);
    const { outcome, isAsked } = await outcomeAndQuestions(asked, () => repository.base({ type: 'head' }));
    expect(isAsked).toBe(true);
    expect(outcome).toMatchObject({
      commit: fixture.git(made, 'rev-parse', 'HEAD').trim(),
      headRef: 'refs/heads/main',
    });
  });
});
