import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A scratch repository and the real command line on it; all gone at the end. */
export interface CliFixture extends AsyncDisposable {
  readonly repository: string;
  readonly environment: Readonly<Record<string, string>>;
  git(...args: readonly string[]): string;
  /** Everything of the repository that a user could notice. */
  digest(): string;
  run(args: readonly string[], input?: string, more?: Readonly<Record<string, string>>): Promise<Ran>;
  start(args: readonly string[]): ChildProcess;
}

/** What is built starts several times as fast, and is what people get; a test by hand needs no build. */
const isBuilt = process.env['LITTERBOX_TEST_BUILT'] !== undefined;
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

export function cliFixture(): CliFixture {
  const directory = mkdtempSync(join(tmpdir(), 'litterbox-cli-'));
  const repository = join(directory, 'repository');
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: directory,
    LITTERBOX_HOME: join(directory, 'state'),
    GIT_CONFIG_NOSYSTEM: '1',
    LC_ALL: 'C.UTF-8',
    TERM: 'xterm',
    ...ENGINES,
  };
  const sh = (script: string) =>
    execFileSync('sh', ['-c', script], { cwd: repository, env: environment, encoding: 'utf8' }).trimEnd();
  execFileSync('git', ['init', '-q', '-b', 'main', repository], { env: environment });
  writeFileSync(join(repository, 'a.txt'), 'a\n');
  sh('git config user.name Cli && git config user.email cli@localhost && git add -A && git commit -q -m one');
  const start = (args: readonly string[]) => {
    const [program, ...rest] = NODE;
    return spawn(program, [...rest, ...args], { cwd: repository, env: environment, stdio: ['pipe', 'pipe', 'pipe'] });
  };
  const run = async (
    args: readonly string[],
    input?: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Ran> => {
    const [program, ...rest] = NODE;
    const child = spawn(program, [...rest, ...args], {
      cwd: repository,
      env: { ...environment, ...more },
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
  return {
    repository,
    environment,
    run,
    start,
    git: (...args) => execFileSync('git', args, { cwd: repository, env: environment, encoding: 'utf8' }).trimEnd(),
    digest: () =>
      sh(
        'git for-each-ref; cat .git/HEAD .git/config; ls .git/hooks; git ls-files -s; find . -path ./.git -prune -o -type f -print | sort | xargs sha256sum',
      ),
    async [Symbol.asyncDispose]() {
      const { stdout } = await run(['list', '--json']);
      const names = stdout === '' ? [] : (JSON.parse(stdout) as { readonly name: string }[]).map(({ name }) => name);
      if (names.length > 0) await run(['delete', ...names, '--force']);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
