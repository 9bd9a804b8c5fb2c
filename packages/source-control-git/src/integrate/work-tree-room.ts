import { open, rm, stat, statfs } from 'node:fs/promises';
import { LitterboxError } from '@litterbox/core/provider';
import type { PathStep } from '../store/read-diff.ts';
import { readBlobSizes } from '../store/read-blob-sizes.ts';
import type { Store } from '../store/store.ts';
import type { UserRepository } from '../person/user-repository.ts';
import { lstatOf } from '../git/on-disk.ts';

/** Of the file system: what directories grow by, git's own temporary files, the journal of the file system. */
const SPARE_BYTES = 256 * 1024;
/** An index in the making: the copy, git's lock beside it, and both once more when it is undone. */
const INDEX_COPIES = 4;

/**
 * Refuses what the file system of the work tree cannot hold, before anything is written there. What a file in place frees counts, because
 * it goes first. Other programs may take the room all the same, and there may be no inode left: see {@link reserveRoom}.
 *
 * @throws LitterboxError `DISK_FULL`.
 */
export async function requireRoom(
  store: Store,
  user: UserRepository,
  steps: readonly PathStep[],
  indexPath: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const oids = steps.flatMap((step) => (step.new && step.new.mode !== '160000' ? [step.new.oid] : []));
  if (oids.length === 0) return;
  let neededBytes = SPARE_BYTES + INDEX_COPIES * ((await stat(indexPath).catch(() => undefined))?.size ?? 0);
  for await (const [, size] of readBlobSizes(store, oids, signal)) neededBytes += size;
  const { bavail, bsize } = await statfs(user.root);
  if (neededBytes <= bavail * bsize) return;
  for (const { path, old } of steps) if (old) neededBytes -= (await lstatOf(user.root, path))?.size ?? 0;
  if (neededBytes <= bavail * bsize) return;
  const inMiB = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  throw new LitterboxError(
    'DISK_FULL',
    `The changes need ${inMiB(neededBytes)} below ${user.root}, and ${inMiB(bavail * bsize)} are free.`,
    { operation: 'integration.execute', hint: 'Make room, and try again. Nothing was changed.' },
  );
}

/** Takes the room that undoing needs, so that it is there when the disk is full. `release` gives it back. */
export async function reserveRoom(path: string, indexPath: string): Promise<void> {
  const { size = 0 } = (await stat(indexPath).catch(() => undefined)) ?? {};
  const file = await open(path, 'w');
  try {
    const block = Buffer.alloc(64 * 1024, 1);
    for (let left = SPARE_BYTES / 2 + 2 * size; left > 0; left -= block.length)
      await file.write(block, 0, Math.min(left, block.length));
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
