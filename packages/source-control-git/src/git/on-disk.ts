import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { type ByteString, bytesOf } from './byte-text.ts';

/** A path of the tree as the file system takes it, byte for byte. */
export function onDisk(root: string, path: ByteString): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), bytesOf(path)]);
}

/** What is at a path of the tree, links not followed; nothing where nothing is. */
export async function lstatOf(root: string, path: ByteString): Promise<Stats | undefined> {
  return lstat(onDisk(root, path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}
