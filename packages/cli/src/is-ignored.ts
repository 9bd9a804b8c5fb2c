import { spawnSync } from 'node:child_process';
import { personsPath } from './persons-path.ts';

/** Whether git ignores a path below the top of a work tree. Also where git cannot say: what it does not track is ignored mostly. */
export function isIgnored(top: string, path: string): boolean {
  const args = ['-C', top, '-c', 'core.fsmonitor=false', 'check-ignore', '--quiet', '--', path];
  const env = { ...process.env, PATH: personsPath(process.env['PATH'], top) };
  return spawnSync('git', args, { env, stdio: 'ignore' }).status !== 1;
}
