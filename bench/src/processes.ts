import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Starts a program without pipes and waits for it: the least that a process costs from here. */
export async function spawned(program: string, ...args: readonly string[]): Promise<void> {
  const [code, signal] = (await once(spawn(program, args, { stdio: 'ignore' }), 'exit')) as [number | null, string];
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code ?? signal}`);
}

/** What a program printed, trimmed. */
export function output(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** Without the machine's own configuration of git. */
export const GIT_ENVIRONMENT = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', LC_ALL: 'C' };

export async function git(directory: string, ...args: readonly string[]): Promise<void> {
  await spawned('git', '-C', directory, '-c', 'maintenance.auto=false', '-c', 'gc.auto=0', ...args);
}
