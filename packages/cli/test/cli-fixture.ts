import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { quoted } from '@litterbox/core';
import { RepositoryFixture } from '@litterbox/testing';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What is built starts several times as fast, and is what people get; a test by hand needs no build. */
export const isBuilt = process.env['LITTERBOX_TEST_BUILT'] !== undefined;
export const PROGRAM = new URL(isBuilt ? '../bin/litterbox.cjs' : '../src/bin.ts', import.meta.url).pathname;
export const NODE = [
  process.execPath,
  '--no-warnings',
  ...(isBuilt ? [] : ['--conditions=@litterbox/source']),
  PROGRAM,
] as const;

/** The provider that the suites of this package run on, and where the engines of the tests are. */
export const PROVIDER = process.env['LITTERBOX_TEST_PROVIDER'] ?? 'overlayfs';
const ENGINES = Object.fromEntries([
  ['LITTERBOX_PROVIDER', PROVIDER],
  ...['DOCKER_HOST', 'CONTAINER_HOST'].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
]) as Readonly<Record<string, string>>;

/** A repository and the real command line on it; all gone at the end. */
export class CliFixture extends RepositoryFixture {
  readonly environment: Readonly<Record<string, string>>;

  constructor() {
    super({ 'a.txt': 'a\n' });
    this.environment = {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: this.directory,
      LITTERBOX_HOME: this.stateDirectory,
      GIT_CONFIG_NOSYSTEM: '1',
      LC_ALL: 'C.UTF-8',
      TERM: 'xterm',
      ...ENGINES,
    };
    this.defer(async () => {
      const { stdout } = await this.run(['list', '--json']);
      const names = stdout === '' ? [] : (JSON.parse(stdout) as { readonly name: string }[]).map(({ name }) => name);
      if (names.length > 0) await this.run(['delete', ...names, '--force']);
    });
  }

  /** Everything of the repository that a user could notice. */
  readonly digest = (): string => {
    const script =
      'git for-each-ref; cat .git/HEAD .git/config; ls .git/hooks; git ls-files -s; find . -path ./.git -prune -o -type f -print | sort | xargs sha256sum';
    return execFileSync('sh', ['-c', script], {
      cwd: this.repository,
      env: this.environment,
      encoding: 'utf8',
    }).trimEnd();
  };

  readonly start = (args: readonly string[], more: Readonly<Record<string, string>> = {}): ChildProcess => {
    const [program, ...rest] = NODE;
    return spawn(program, [...rest, ...args], {
      cwd: this.repository,
      env: { ...this.environment, ...more },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  };

  /** On a terminal of its own, whose keyboard is the standard input of the process: `\u0003` is Ctrl-C. */
  readonly startInTerminal = (args: readonly string[], more: Readonly<Record<string, string>> = {}): ChildProcess => {
    const line = `stty cols 80 rows 24; exec ${[...NODE, ...args].map(quoted).join(' ')}`; // nobody else gives it a size
    return spawn('script', ['-qec', line, '/dev/null'], {
      cwd: this.repository,
      env: { ...this.environment, SHELL: '/bin/sh', ...more },
      stdio: ['pipe', 'pipe', 'inherit'],
      timeout: 120_000, // whoever waits for a word that never comes
    });
  };

  readonly run = async (
    args: readonly string[],
    input?: string,
    more: Readonly<Record<string, string>> = {},
    cwd = this.repository,
  ): Promise<Ran> => {
    const [program, ...rest] = NODE;
    const child = spawn(program, [...rest, ...args], {
      cwd,
      env: { ...this.environment, ...more },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin?.end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code: code ?? -1, stdout, stderr };
  };
}
