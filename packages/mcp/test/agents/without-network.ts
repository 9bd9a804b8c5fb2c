import { spawnSync } from 'node:child_process';
import { networkInterfaces } from 'node:os';

const INSIDE = 'LITTERBOX_AGENTS_INSIDE';

/**
 * Runs what is to be done in a network namespace that has nothing but a loopback of its own: starts this program there once
 * more. What has to be fetched is fetched before; its directories reach the body.
 */
export async function withoutNetwork(
  fetched: () => readonly string[],
  body: (...directories: readonly string[]) => Promise<void>,
): Promise<void> {
  const inside = process.env[INSIDE];
  if (inside === undefined) {
    process.exitCode = startedInside(fetched());
    return;
  }
  const interfaces = Object.keys(networkInterfaces());
  if (interfaces.join() !== 'lo') throw new Error(`This must see loopback alone, and sees ${interfaces.join(', ')}.`);
  await body(...(JSON.parse(inside) as readonly string[]));
}

function startedInside(directories: readonly string[]): number {
  if (process.getuid?.() !== 0) throw new Error('Run this as root: it needs a network namespace.');
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { status, error } = spawnSync('unshare', ['-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...self], {
    env: { ...process.env, [INSIDE]: JSON.stringify(directories) },
    stdio: 'inherit',
  });
  if (error) throw error;
  return status ?? 1;
}
