import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './test-files.mjs';

const FILES = '/var/lib/litterbox-test/fs/ext4';

/**
 * Prepares file systems, users and engines of the tests, as root. An incomplete machine ends the run at once.
 *
 * @param {'gate' | 'all'} level what is needed: that of the gate, or of the deep tests too
 */
export function prepareMachine(level = 'all') {
  if (process.getuid() !== 0) return;
  const { status } = spawnSync('sh', [join(ROOT, 'tools/test-host.sh'), 'up', ...(level === 'gate' ? [level] : [])], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Error('the test host is incomplete');
  useTestFiles();
}

/** Prepares what of that is missing: beside other tests it takes nothing away that they may use. @param {'gate' | 'all'} level */
export function completeMachine(level) {
  if (process.getuid() !== 0) return;
  const { status } = spawnSync(
    'sh',
    [join(ROOT, 'tools/test-host.sh'), 'status', ...(level === 'gate' ? [level] : [])],
    {
      stdio: 'ignore',
    },
  );
  if (status === 0) useTestFiles();
  else prepareMachine(level);
}

/** Temporary files go to the tests' own ext4: deleting many on a file system without a journal, or below an overlay, is slow. */
export function useTestFiles() {
  if (!existsSync(FILES) || statSync(FILES).dev === statSync(join(FILES, '..')).dev) return;
  const directory = join(FILES, 'tmp');
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o1777);
  process.env['TMPDIR'] = directory;
}
