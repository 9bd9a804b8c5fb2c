import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LitterboxError, type ObjectId, failpoint } from '@litterbox/core/provider';
import { syncDirectory, temporaryName } from '../git/durable-files.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';

/**
 * Copies what `wanted` needs and the store alone holds into the user's repository, as one pack. git checks it object
 * by object in a quarantine of ours first, so that a refused one leaves nothing. Until a ref names them the objects
 * are unreachable, so stopping half way harms nothing.
 */
export async function publishObjects(
  store: Store,
  user: UserRepository,
  wanted: readonly ObjectId[],
  known: readonly ObjectId[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const quarantine = join(store.workDirectory, `incoming-${process.pid}-${randomBytes(6).toString('hex')}`);
  await mkdir(join(quarantine, 'pack'), { recursive: true, mode: 0o700 });
  const userObjects = join(user.commonDirectory, 'objects');
  try {
    const input = [...wanted, ...known.map((oid) => `^${oid}`)].map((line) => `${line}\n`).join('');
    // --local leaves out what the store only borrows from the user's repository.
    const pack = store.stream(['pack-objects', '--revs', '--stdout', '--local', '-q'], { input, signal });
    const { code, stderr } = await user.plumbing.run(['index-pack', '--stdin', '--strict'], {
      input: pack,
      environment: { GIT_OBJECT_DIRECTORY: quarantine, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(userObjects) },
      signal,
    });
    if (code !== 0) throw refusal(stderr);
    failpoint('publish.after-check');
    // The index makes a pack visible, so it comes last.
    const names = (await readdir(join(quarantine, 'pack'))).filter((name) => name.startsWith('pack-'));
    for (const name of names.toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))) {
      await copyDurably(join(quarantine, 'pack', name), join(userObjects, 'pack', name));
      failpoint('publish.after-file');
    }
    await syncDirectory(join(userObjects, 'pack'));
  } finally {
    await rm(quarantine, { recursive: true, force: true });
  }
}

/** As git reads a list separated by colons. */
function quoted(path: string): string {
  return /[:"\\\n]/.test(path) ? JSON.stringify(path) : path;
}

async function copyDurably(source: string, target: string): Promise<void> {
  const temporary = join(dirname(target), temporaryName());
  try {
    await copyFile(source, temporary);
    const handle = await open(temporary, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    failpoint('publish.before-rename');
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function refusal(stderr: string): LitterboxError {
  if (stderr.includes('No space left on device')) {
    return new LitterboxError('DISK_FULL', stderr.trim(), { operation: 'objects.publish' });
  }
  return new LitterboxError('PERMISSION_DENIED', `git refuses the sandbox's objects: ${stderr.trim()}`, {
    operation: 'objects.publish',
    hint: 'Look at the changes for a malformed .gitmodules or tree, and undo it in the sandbox.',
  });
}
