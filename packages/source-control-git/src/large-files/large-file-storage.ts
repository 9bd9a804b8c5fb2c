import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { syncDirectory } from '../git/durable-files.ts';
import type { LargeFilePointer } from './large-file-pointer.ts';
import { readUserConfig } from '../person/user-config.ts';
import type { UserRepository } from '../person/user-repository.ts';

/** Where git-lfs keeps the contents of a repository: `.git/lfs`, or where the person's configuration says. */
export class LargeFileStorage {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async open(user: UserRepository, signal: AbortSignal | undefined): Promise<LargeFileStorage> {
    const config = await readUserConfig(user, '^lfs\\.storage$', signal);
    return new LargeFileStorage(resolve(user.commonDirectory, config.get('lfs.storage') || 'lfs'));
  }

  pathOf({ sha256 }: LargeFilePointer): string {
    return join(this.#directory, 'objects', sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  }

  async has(pointer: LargeFilePointer): Promise<boolean> {
    const found = await lstat(this.pathOf(pointer)).catch(() => undefined);
    return found?.isFile() === true && found.size === pointer.sizeBytes;
  }

  /** Keeps a content as git-lfs would, durably. */
  async put(pointer: LargeFilePointer, content: AsyncIterable<Uint8Array>): Promise<void> {
    const path = this.pathOf(pointer);
    const directory = join(path, '..');
    const temporary = join(this.#directory, 'tmp', `litterbox-${randomUUID()}`);
    for (const needed of [directory, join(temporary, '..')]) await mkdir(needed, { recursive: true });
    try {
      const handle = await open(temporary, 'wx', 0o444);
      try {
        for await (const chunk of content) await handle.writeFile(chunk);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, path);
      await syncDirectory(directory);
    } finally {
      await rm(temporary, { force: true });
    }
  }
}
