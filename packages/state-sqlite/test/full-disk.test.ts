import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { StateFixture } from './state-fixture.ts';

const FIXTURE = fileURLToPath(new URL('fixtures/full-disk.ts', import.meta.url));

/** Runs the fixture on a tmpfs of that size that only it sees: a user and mount namespace needs no root. */
async function onDiskOf(size: string): Promise<Record<string, unknown>> {
  await using fixture = new StateFixture();
  const mountPoint = join(fixture.parent, 'disk');
  mkdirSync(mountPoint);
  const script = 'mount -t tmpfs -o "size=$1,mode=0700" litterbox-test "$2" && shift 2 && exec "$@"';
  const inNamespace = ['--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', size, mountPoint];
  const node = [process.execPath, '--conditions=@litterbox/source', '--no-warnings', FIXTURE, mountPoint];
  const { stdout } = await promisify(execFile)('unshare', [...inNamespace, ...node]);
  const lines = stdout.trim().split('\n');
  return Object.fromEntries(lines.map((line) => JSON.parse(line) as [string, unknown]));
}

test('with a reserve, everything that frees space works on a full disk', async () => {
  expect(await onDiskOf('12m')).toEqual({
    'insert on an empty disk': 'ok',
    'publish when full': 'DISK_FULL hint',
    'list when full': 'ok',
    'lease when full': 'ok',
    'entries when full': 'ok',
    'finish when full': 'ok',
    'delete when full': 'ok',
    'insert when there is room again': 'ok',
    verify: 'ok',
  });
});

test('without room for a reserve, what cannot be written is refused as such, and nothing is spoilt', async () => {
  expect(await onDiskOf('1m')).toMatchObject({
    'insert on an empty disk': 'ok',
    'publish when full': 'DISK_FULL hint',
    'list when full': 'ok',
    'lease when full': 'ok',
    'insert when there is room again': 'ok',
    verify: 'ok',
  });
});

test('a disk on which not even the state file fits', async () => {
  expect(await onDiskOf('16k')).toMatchObject({
    'insert on an empty disk': 'DISK_FULL hint',
    'list when full': 'DISK_FULL hint',
  });
});
