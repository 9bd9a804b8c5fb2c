import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createLitterbox, type Litterbox, type LitterboxOptions } from '../src/index.ts';
import { provider } from './provider.ts';

/** A scratch repository, a state directory and the Litterboxes opened on them; all gone at the end. */
export interface LibraryFixture extends AsyncDisposable {
  readonly repository: string;
  readonly stateDirectory: string;
  git(...args: readonly string[]): string;
  file(path: string, content: string): void;
  /** One more program on the same repository and state. */
  open(options?: Partial<LitterboxOptions>): Litterbox;
}

export function libraryFixture(
  files: Readonly<Record<string, string>> = { 'src/a.txt': 'a\n', '.gitignore': 'ignored/\n' },
): LibraryFixture {
  const directory = mkdtempSync(join(tmpdir(), 'litterbox-story-'));
  const repository = join(directory, 'repository');
  const stateDirectory = join(directory, 'state');
  const opened: Litterbox[] = [];
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repository, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: directory, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' },
    }).trimEnd();
  const file = (path: string, content: string) => {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), content);
  };
  mkdirSync(repository);
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Story');
  git('config', 'user.email', 'story@localhost');
  for (const [path, content] of Object.entries(files)) file(path, content);
  git('add', '-A');
  git('commit', '-q', '-m', 'one');
  return {
    repository,
    stateDirectory,
    git,
    file,
    open(options) {
      const litterbox = createLitterbox({ repo: repository, providers: [provider], stateDirectory, ...options });
      opened.push(litterbox);
      return litterbox;
    },
    async [Symbol.asyncDispose]() {
      const last = createLitterbox({ repo: repository, providers: [provider], stateDirectory });
      for (const { name } of await last.list()) await last.delete(name, { force: true });
      await last.clearPool();
      for (const litterbox of [...opened, last]) await litterbox[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
