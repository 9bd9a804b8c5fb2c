import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A git repository with one commit and a state directory beside it, in a directory that goes with it. */
export interface ScratchRepository extends Disposable {
  readonly directory: string;
  readonly repository: string;
  readonly stateDirectory: string;
  /** Runs git in the repository, without the machine's own configuration. Returns what it printed, trimmed at the end. */
  git(...args: readonly string[]): string;
  file(path: string, content: string | Uint8Array): void;
}

export function scratchRepository(
  files: Readonly<Record<string, string>> = { 'src/a.txt': 'a\n', '.gitignore': 'ignored/\n' },
  parent: string = tmpdir(),
): ScratchRepository {
  const directory = mkdtempSync(join(parent, 'litterbox-hardening-'));
  const repository = join(directory, 'repository');
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-C', repository, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: directory, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' },
    }).trimEnd();
  const file = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(repository, path)), { recursive: true });
    writeFileSync(join(repository, path), content);
  };
  mkdirSync(repository);
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Scratch');
  git('config', 'user.email', 'scratch@localhost');
  for (const [path, content] of Object.entries(files)) file(path, content);
  git('add', '-A');
  git('commit', '-q', '-m', 'one');
  return {
    directory,
    repository,
    stateDirectory: join(directory, 'state'),
    git,
    file,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
