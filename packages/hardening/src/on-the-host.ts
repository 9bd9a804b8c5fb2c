import { spawnSync } from 'node:child_process';

/** How a program ended, and what it said. */
export interface OnTheHost {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a payload outside of any sandbox, as this user: the positive control of what Litterbox refuses. */
export function onTheHost(
  argv: readonly [string, ...string[]],
  options: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>>; readonly input?: string } = {},
): OnTheHost {
  const [program, ...args] = argv;
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    timeout: 20_000,
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C' },
    ...options,
  });
  if (error) throw error;
  return {
    code: signal === null ? (status ?? -1) : 128,
    stdout,
    stderr: signal === null ? stderr : `${stderr}(${signal})`,
  };
}

/** The same in bubblewrap with the whole machine in it and no hardening: what namespaces alone give. */
export function inPlainBubblewrap(script: string, args: readonly string[] = []): OnTheHost {
  return onTheHost([
    'bwrap',
    '--bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    ...args,
    '--',
    'sh',
    '-c',
    script,
  ]);
}
