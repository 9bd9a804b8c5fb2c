import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Fixture } from './fixture.ts';

const FILES = { 'src/a.txt': 'a\n', '.gitignore': 'ignored/\n' };

/** A git repository with one commit and a place for a state directory beside it, in a directory that goes with it. */
export class RepositoryFixture extends Fixture {
  readonly directory: string;
  readonly repository: string;
  readonly stateDirectory: string;

  constructor(files: Readonly<Record<string, string>> = FILES, parent: string = tmpdir()) {
    super();
    this.directory = mkdtempSync(join(parent, 'litterbox-fixture-'));
    this.repository = join(this.directory, 'repository');
    this.stateDirectory = join(this.directory, 'state');
    this.defer(() => rmSync(this.directory, { recursive: true, force: true }));
    mkdirSync(this.repository);
    this.git('init', '-q', '-b', 'main');
    this.git('config', 'user.name', 'Somebody');
    this.git('config', 'user.email', 'somebody@localhost');
    for (const [path, content] of Object.entries(files)) this.file(path, content);
    this.git('add', '-A');
    this.git('commit', '-q', '-m', 'one');
  }

  /** Runs git in the repository, without the machine's own configuration. @returns what it printed, trimmed at the end */
  readonly git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', this.repository, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: this.directory, GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' },
    }).trimEnd();

  /** Writes a file of the work tree, and the directories above it. */
  readonly file = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(this.repository, path)), { recursive: true });
    writeFileSync(join(this.repository, path), content);
  };
}
