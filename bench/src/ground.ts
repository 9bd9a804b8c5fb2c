import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const INSIDE = 'LITTERBOX_BENCH_INSIDE';
const GIBIBYTE = 2 ** 30;

/**
 * Runs this program once more, as root in namespaces of its own: what it mounts, and what it starts, ends with it whatever
 * happens, and every process that it sees is of its own making.
 *
 * @returns the exit code of that run; `undefined` when this is that run already
 */
export function runApart(): number | undefined {
  if (process.env[INSIDE] !== undefined) return undefined;
  if (process.getuid?.() !== 0) {
    console.error('bench: overlay mounts and a file system of its own need root.');
    return 1;
  }
  // A shell is the first process, so that what loses its parent is waited for. It closes what a terminal or a runner left open:
  // Litterbox keeps such descriptors from its programs by one more program for each.
  const first = 'for fd in /proc/self/fd/*; do fd=${fd##*/}; [ $fd -lt 3 ] || eval "exec $fd>&-"; done; "$@"; exit $?';
  const namespaces = ['--mount', '--propagation', 'private', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { status } = spawnSync('unshare', [...namespaces, 'bash', '--norc', '-c', first, 'bash', ...again], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: '1' },
  });
  return status ?? 1;
}

/** A journalled file system in a file that has no name any more: it goes with the last process that uses it. */
export function mountGround(gibibytes: number): string {
  const parent = process.env['LITTERBOX_BENCH_DIR'] ?? '/var/tmp';
  const { bavail, bsize } = statfsSync(parent);
  if (bavail * bsize < (gibibytes + 2) * GIBIBYTE)
    throw new Error(`${parent} has less than ${gibibytes + 2} GiB free; LITTERBOX_BENCH_DIR names another place.`);
  const directory = mkdtempSync(join(parent, 'litterbox-bench-'));
  const image = join(directory, 'image');
  try {
    closeSync(openSync(image, 'w'));
    administer('truncate', '-s', `${gibibytes}G`, image);
    administer('mkfs.ext4', '-q', '-F', '-m', '0', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image);
    const ground = '/mnt';
    administer('mount', '-o', 'loop,noatime', image, ground);
    for (const name of ['bare', 'repositories', 'states', 'tmp']) mkdirSync(join(ground, name));
    return ground;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function administer(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { env: { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` } });
}

export const inBench = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
