import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LitterboxError, ObjectId, failpoint } from '@litterbox/core/provider';
import { syncDirectory } from '../git/durable-files.ts';

const isAbsent = (error: unknown) => ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

/**
 * Refs of a store, which is ours alone: loose files as git's own backend writes them, never packed. Writers hold the
 * store's lock, so a `.lock` that is left is a dead process's and is written over (security.md 6.1.4).
 */
export class RefFiles {
  readonly #gitDirectory: string;

  constructor(gitDirectory: string) {
    this.#gitDirectory = gitDirectory;
  }

  /** @throws LitterboxError `STORE_CORRUPT` when the file holds no object id. */
  read(name: string): ObjectId | undefined {
    let text: string;
    try {
      // Synchronous: 41 bytes from the page cache, several times in every call.
      text = readFileSync(join(this.#gitDirectory, name), 'latin1').trimEnd();
    } catch (error) {
      if (isAbsent(error) || (error as NodeJS.ErrnoException).code === 'EISDIR') return undefined;
      throw error;
    }
    if (ObjectId.is(text)) return text;
    throw new LitterboxError('STORE_CORRUPT', `The ref ${name} of the history is damaged.`, {
      operation: 'store.read',
      facts: { ref: name },
      hint: 'Restore the state directory from a backup, or remove the sandbox.',
    });
  }

  /** @throws LitterboxError `CONFLICT` when `old` is not the value. */
  expect(name: string, old: ObjectId | undefined): void {
    if (this.read(name) === old) return;
    throw new LitterboxError('CONFLICT', `Another process recorded first: ${name} moved.`, {
      operation: 'store.write',
      hint: 'Try again.',
    });
  }

  /** What the journal holds already, so that it need not be durable by itself. The caller holds the store's lock. */
  writeJournalled(name: string, value: ObjectId | undefined): void {
    const path = join(this.#gitDirectory, name);
    if (value === undefined) return rmSync(path, { force: true });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.lock`, `${value}\n`, { mode: 0o600 });
    renameSync(`${path}.lock`, path);
  }

  /** Durable when it resolves. The caller holds the store's lock. @throws LitterboxError `CONFLICT` when `old` is not the value. */
  async write(name: string, value: ObjectId, old?: ObjectId | 'absent'): Promise<void> {
    if (old !== undefined) this.expect(name, old === 'absent' ? undefined : old);
    const path = join(this.#gitDirectory, name);
    const directory = dirname(path);
    const lock = `${path}.lock`;
    const handle = await open(lock, 'w', 0o600).catch(async (error: unknown) => {
      if (!isAbsent(error)) throw error;
      await mkdir(directory, { recursive: true });
      await syncDirectory(dirname(directory));
      return open(lock, 'w', 0o600);
    });
    try {
      await handle.writeFile(`${value}\n`);
      await handle.sync();
    } catch (error) {
      await handle.close();
      rmSync(lock, { force: true });
      throw error;
    }
    await handle.close();
    failpoint('ref.before-rename');
    await rename(lock, path);
    failpoint('ref.after-rename');
    await syncDirectory(directory);
  }

  /** Idempotent. The caller holds the store's lock. */
  async remove(name: string): Promise<void> {
    const path = join(this.#gitDirectory, name);
    await rm(path, { recursive: true, force: true });
    await syncDirectory(dirname(path)).catch((error: unknown) => {
      if (!isAbsent(error)) throw error;
    });
  }

  /** Names directly below a prefix, in no order. */
  list(prefix: string): string[] {
    try {
      return readdirSync(join(this.#gitDirectory, prefix)).filter((name) => !name.endsWith('.lock'));
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  }
}
