import { lstat, readdir, rmdir, unlink } from 'node:fs/promises';

/** Unlinked at once: each is a way through Node's threads. */
const AT_A_TIME = 16;

/**
 * Removes what {@link exportTree} wrote, or nothing when it is not there. Not with Node's own recursive removal, which takes a
 * hundred megabytes for 80,000 files. Follows no link.
 */
export async function removeExport(directory: string): Promise<void> {
  const found = await lstat(directory).catch(() => undefined);
  if (found?.isDirectory()) await removeDirectory(Buffer.from(directory)).catch(ignoreAbsent);
}

async function removeDirectory(directory: Buffer): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true, encoding: 'buffer' });
  for (let at = 0; at < entries.length; at += AT_A_TIME) {
    const batch = entries.slice(at, at + AT_A_TIME);
    await Promise.all(
      batch
        .filter((entry) => !entry.isDirectory())
        .map(({ name }) => unlink(inside(directory, name)).catch(ignoreAbsent)),
    );
    for (const entry of batch) if (entry.isDirectory()) await removeDirectory(inside(directory, entry.name));
  }
  await rmdir(directory);
}

function inside(directory: Buffer, name: Buffer): Buffer {
  return Buffer.concat([directory, Buffer.from('/'), name]);
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
