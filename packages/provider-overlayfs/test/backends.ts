import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Host, type SandboxProvider } from '@litterbox/core/provider';
import { overlayfs } from '../src/index.ts';

export type StrategyName = 'overlay' | 'btrfs' | 'zfs' | 'reflink' | 'copy';

/** Where the test host keeps file systems that can share blocks. */
const DIRECTORIES: Partial<Record<StrategyName, string>> = {
  btrfs: '/var/lib/litterbox-test/fs/btrfs',
  zfs: '/var/lib/litterbox-test/fs/zfs',
  reflink: '/var/lib/litterbox-test/fs/xfs',
};

const DESTROY_TRIES = 50;

/** A directory for the provider's own files, where the strategy works; on ZFS it is a dataset of its own. Removed by {@link removeBackend}. */
export async function backendDirectory(strategy: StrategyName): Promise<string> {
  const own = DIRECTORIES[strategy];
  const parent = own !== undefined && existsSync(own) ? own : tmpdir();
  const directory = await mkdtemp(join(parent, `litterbox-${strategy}-`));
  const above = strategy === 'zfs' && parent === own ? datasetAt(parent) : undefined;
  if (above !== undefined) zfs('create', '-o', `mountpoint=${directory}`, `${above}/${basename(directory)}`);
  return directory;
}

/** Runs the program `zfs` and gives what it prints. */
export function zfs(...argv: readonly string[]): string {
  const PATH = `${process.env['PATH']}:/sbin:/usr/sbin`;
  return execFileSync('zfs', [...argv], { encoding: 'utf8', env: { ...process.env, PATH } });
}

/** The dataset that is mounted there; undefined where it is not one's top. */
export function datasetAt(directory: string): string | undefined {
  const argv = ['-n', '-t', 'zfs', '-o', 'SOURCE', '-M', directory];
  const { stdout } = spawnSync('findmnt', argv, { encoding: 'utf8' });
  return stdout.trim() === '' ? undefined : stdout.trim();
}

export async function removeBackend(directory: string): Promise<void> {
  const dataset = datasetAt(directory);
  if (dataset !== undefined) await destroyDataset(dataset);
  // Frozen base trees on Btrfs are read-only.
  spawnSync('find', [
    directory,
    '-type',
    'd',
    '-inum',
    '256',
    '-exec',
    'btrfs',
    'property',
    'set',
    '-ts',
    '{}',
    'ro',
    'false',
    ';',
  ]);
  await rm(directory, { recursive: true, force: true });
}

/** A mount namespace that is just ending has a copy of the mount. One that stays is a session that a test left. */
async function destroyDataset(dataset: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      zfs('destroy', '-R', dataset);
      return;
    } catch (error) {
      if (tries === DESTROY_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** Why the strategy cannot be used here; undefined when it can. */
export async function absence(host: Host, strategy: StrategyName): Promise<string | undefined> {
  const directory = await backendDirectory(strategy);
  try {
    await using provider: SandboxProvider = overlayfs({ host, facts: await host.facts(), directory, strategy });
    const { usable, checks } = await provider.probe();
    return usable
      ? undefined
      : checks
          .filter(({ status }) => status === 'failed')
          .map(({ name, finding }) => `${name}: ${finding}`)
          .join('; ');
  } finally {
    await removeBackend(directory);
  }
}

export const isRoot = statSync('/proc/self').uid === 0;

/**
 * Names what this machine cannot give with the strategy: root's provider says that it bounds the speed of the disk, and version 1 of control groups
 * cannot, nor ZFS, which does not tell whose memory it writes back. ZFS packs twenty thousand empty files into two megabytes.
 */
export const lackingOn = (strategy: StrategyName) => [
  ...(isRoot && (strategy === 'zfs' || !existsSync('/sys/fs/cgroup/cgroup.controllers'))
    ? (['disk-speed'] as const)
    : []),
  ...(strategy === 'zfs' ? (['disk-files'] as const) : []),
];
