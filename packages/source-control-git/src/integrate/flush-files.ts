import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { ByteString } from '../git/byte-text.ts';
import { onDisk } from '../git/on-disk.ts';

/** Flushed at once: the file system writes their journal entries together. */
const AT_ONCE = 32;

/**
 * Hands the content of files to the disk. git does not do it for a work tree: after a power cut a file that it has just written may be
 * there without a byte. What is no regular file, is gone, or cannot be read has nothing to flush.
 */
export async function flushFiles(root: string, paths: readonly ByteString[]): Promise<void> {
  const left = [...paths];
  const flush = async () => {
    for (let path = left.pop(); path !== undefined; path = left.pop()) {
      const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      const file = await open(onDisk(root, path), flags).catch(() => undefined);
      if (file === undefined) continue;
      try {
        await file.datasync();
      } catch (error) {
        // Of a pipe or a device, which somebody else has put there meanwhile.
        if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error;
      } finally {
        await file.close();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, left.length) }, flush));
}
