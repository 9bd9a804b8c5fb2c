import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import { spawned } from '../processes.ts';

const IMAGE = 'busybox';

/** The job by the docker command, a process for each step; otherwise why not. */
export async function findDocker(
  workspace: string,
  work: Readonly<Record<'run' | 'write' | 'read', string>>,
): Promise<((round: number) => Promise<number>) | string> {
  const docker = (...args: readonly string[]) => spawnSync('docker', args, { encoding: 'utf8', timeout: 10_000 });
  const { status, error } = docker('version', '--format', '{{.Server.Version}}');
  if (error) return 'there is no docker command on this machine';
  if (status !== 0) return 'no Docker engine answers on this machine';
  if (docker('image', 'inspect', IMAGE).status !== 0) return `the engine has no image ${IMAGE}, and none is fetched`;
  return async (round) => {
    const name = `litterbox-bench-${basename(workspace)}-${round}`;
    const inside = (command: string) => spawned('docker', 'exec', name, 'sh', '-c', command);
    const startedMs = performance.now();
    await spawned('docker', 'run', '-d', '--name', name, '-w', '/tmp', IMAGE, 'sleep', '600');
    for (const command of [work.run, work.run, work.write, work.read]) await inside(command);
    await spawned('docker', 'rm', '-f', name);
    return performance.now() - startedMs;
  };
}
