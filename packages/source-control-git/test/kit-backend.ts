import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from '@jest/globals';
import type { SourceControlOptions } from '@litterbox/conformance';
import { git } from '../src/index.ts';

const directory = mkdtempSync(join(tmpdir(), 'litterbox-git-kit-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const env = {
  PATH: process.env['PATH'],
  HOME: directory,
  GIT_CONFIG_NOSYSTEM: '1',
  LC_ALL: 'C',
  GIT_AUTHOR_NAME: 'Kit',
  GIT_AUTHOR_EMAIL: 'kit@localhost',
  GIT_COMMITTER_NAME: 'Kit',
  GIT_COMMITTER_EMAIL: 'kit@localhost',
};
const run = (cwd: string, script: string) => execFileSync('sh', ['-c', script], { cwd, env, encoding: 'utf8' });

/** Repositories of git below a directory that is removed after the tests of a file. */
export const kitBackend: Omit<SourceControlOptions, 'name' | 'runner'> = {
  open: async () => git({ stateDirectory: join(directory, 'state') }),
  repository: async (files) => {
    const root = mkdtempSync(join(directory, 'repository-'));
    run(root, 'git init -q -b main && git config user.name Kit && git config user.email kit@localhost');
    for (const { path, content = '', linkTarget } of files) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      await (linkTarget === undefined ? writeFile(join(root, path), content) : symlink(linkTarget, join(root, path)));
    }
    run(root, 'git add -A && git commit -q -m one');
    return root;
  },
  read: (root, path) => readFile(join(root, path), 'utf8').catch(() => undefined),
  write: (root, path, content) => writeFile(join(root, path), content),
  commit: async (root) => void run(root, 'git add -A && git commit -q -m more'),
  digest: async (root) =>
    run(
      root,
      "git for-each-ref --format='%(refname) %(objectname)' | grep -v ' refs/litterbox/\\|^refs/litterbox/'; cat .git/HEAD .git/config; sha256sum .git/index; ls .git/hooks; find . -path ./.git -prune -o -type f -print | sort | xargs sha256sum",
    ),
};
