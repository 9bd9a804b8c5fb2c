import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failpoint } from '@litterbox/core/provider';

/** What was renamed or made in a directory survives a power cut only when the directory itself is flushed. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A name for a file that is not finished: it tells whose it is, so that a killed process's is removed by the next reconcile. */
export function temporaryName(): string {
  return `.litterbox-${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
}

/** The process that gave a file the name; nothing when {@link temporaryName} did not. */
export function makerOf(name: string): number | undefined {
  const [, pid] = /^\.litterbox-(\d+)-[0-9a-f]{12}\.tmp$/.exec(name) ?? [];
  return pid === undefined ? undefined : Number(pid);
}

/** Replaces a file atomically and durably. */
export async function writeDurable(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = join(dirname(path), temporaryName());
  const handle = await open(temporary, 'wx', 0o600);
  try {
    await writeAll(handle, content);
    await handle.sync();
  } catch (error) {
    await handle.close();
    await rm(temporary, { force: true });
    throw error;
  }
  await handle.close();
  failpoint('file.before-rename');
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

async function writeAll(handle: FileHandle, content: string | Uint8Array): Promise<void> {
  await handle.writeFile(content);
}
