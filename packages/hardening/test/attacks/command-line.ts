import { spawnSync } from 'node:child_process';
import type { AttackFixture, OnTheHost } from '../../src/index.ts';

export const PROGRAM = new URL('../../../cli/src/bin.ts', import.meta.url).pathname;

export interface CommandLineOptions {
  /** What starts the program: `strace …`, `nsenter …`. */
  readonly prefix?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Where the person stands. The top of the repository unless named. */
  readonly cwd?: string;
}

/** The real command line on the fixture's repository, as the person runs it. What it says is heard. */
export function commandLine(
  fixture: AttackFixture,
  args: readonly string[],
  { prefix = [], env = {}, input, cwd = fixture.scratch.repository }: CommandLineOptions = {},
): OnTheHost {
  const [program = '', ...rest] = [
    ...prefix,
    process.execPath,
    '--no-warnings',
    '--conditions=@litterbox/source',
    PROGRAM,
    ...args,
  ];
  const { status, stdout, stderr, error } = spawnSync(program, rest, {
    cwd,
    encoding: 'utf8',
    timeout: 60_000,
    input,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: {
      PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: fixture.home,
      LITTERBOX_HOME: fixture.scratch.stateDirectory,
      GIT_CONFIG_NOSYSTEM: '1',
      LC_ALL: 'C.UTF-8',
      TERM: 'xterm',
      ...env,
    },
  });
  if (error) throw error;
  fixture.hear(`what litterbox ${args.join(' ')} says`, stdout, stderr);
  return { code: status ?? -1, stdout, stderr };
}

/** The same on a terminal of its own; what the terminal got, byte by byte. Without a pager, which would look after itself, unless `env` names one. */
export function onTerminal(
  fixture: AttackFixture,
  args: readonly string[],
  input = '',
  { env = {}, cwd = fixture.scratch.repository }: Pick<CommandLineOptions, 'env' | 'cwd'> = {},
): string {
  const words = [process.execPath, '--no-warnings', '--conditions=@litterbox/source', PROGRAM, ...args];
  const command = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  const { stdout, error } = spawnSync('script', ['-qec', `stty cols 200 rows 50; ${command}`, '/dev/null'], {
    cwd,
    encoding: 'utf8',
    timeout: 20_000,
    input,
    env: {
      PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
      HOME: fixture.home,
      LITTERBOX_HOME: fixture.scratch.stateDirectory,
      LITTERBOX_PAGER: 'cat',
      LC_ALL: 'C.UTF-8',
      TERM: 'xterm',
      SHELL: '/bin/sh',
      ...env,
    },
  });
  if (error) throw error;
  fixture.hear(`what litterbox ${args.join(' ')} shows`, stdout);
  return stdout;
}
