import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PrintedContent, SandboxId } from '@litterbox/core/provider';
import { temporaryName } from '../git/durable-files.ts';
import { sandboxRefs } from './sandbox-refs.ts';
import type { Store } from './store.ts';

/** As a digest is: the one part of a path here that comes from a caller. */
const DIGEST = /^[0-9a-f]{64}$/;
/** With so many files more their sizes are added up again, whatever program wrote them. */
const COUNTED_EVERY = 16;
/** A small file takes a block of the disk. */
const BLOCK_BYTES = 4096;

/** Where what commands of a sandbox printed is kept: one file for each content, named by its digest. */
export const printedDirectory = (store: Pick<Store, 'directory'>, id: SandboxId) =>
  join(store.directory, 'printed', id);

/** Keeps what commands printed, behind them. One for each program: it knows what it has not written yet. */
export class PrintedFiles implements AsyncDisposable {
  readonly #store: Store;
  /** Writes that go on, by sandbox, one after the other. */
  readonly #writing = new Map<SandboxId, Promise<void>>();

  constructor(store: Store) {
    this.#store = store;
  }

  async keep(id: SandboxId, content: PrintedContent): Promise<void> {
    const written = (this.#writing.get(id) ?? Promise.resolve()).catch(() => {}).then(() => this.#write(id, content));
    this.#writing.set(id, written);
    try {
      await written;
    } finally {
      if (this.#writing.get(id) === written) this.#writing.delete(id);
    }
  }

  async read(id: SandboxId, digest: string): Promise<Uint8Array | undefined> {
    await this.settle(id);
    if (!DIGEST.test(digest)) return undefined;
    return await readFile(join(printedDirectory(this.#store, id), digest)).catch(orNothing);
  }

  /** Waits for what is being written of a sandbox. */
  async settle(id: SandboxId): Promise<void> {
    await this.#writing.get(id)?.catch(() => {}); // the writer knows
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#writing.values());
  }

  async #write(id: SandboxId, { digest, bytes, mostBytes }: PrintedContent): Promise<void> {
    if (!DIGEST.test(digest) || !this.#hasHistory(id)) return;
    const directory = printedDirectory(this.#store, id);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, digest);
    const kept = await stat(path).catch(orNothing);
    const now = new Date();
    if (kept?.size === bytes.length) await utimes(path, now, now);
    else {
      const temporary = join(directory, temporaryName());
      await writeFile(temporary, bytes, { mode: 0o600, flag: 'wx' });
      await rename(temporary, path);
      await makeRoom(directory, mostBytes);
    }
    // Another program may have removed the sandbox meanwhile.
    if (!this.#hasHistory(id)) await rm(directory, { recursive: true, force: true });
  }

  #hasHistory(id: SandboxId): boolean {
    return this.#store.refs.read(sandboxRefs(id).meta) !== undefined;
  }
}

/** Removes what was written longest ago, until the rest is few enough. */
async function makeRoom(directory: string, mostBytes: number): Promise<void> {
  const names = await readdir(directory);
  if (names.length % COUNTED_EVERY !== 0) return;
  const files: { readonly path: string; readonly bytes: number; readonly atMs: number }[] = [];
  for (const name of names) {
    const path = join(directory, name);
    const found = await stat(path).catch(orNothing);
    if (found) files.push({ path, bytes: Math.max(found.size, BLOCK_BYTES), atMs: found.mtimeMs });
  }
  let keptBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of files.toSorted((one, other) => one.atMs - other.atMs)) {
    if (keptBytes <= mostBytes) return;
    await rm(path, { force: true });
    keptBytes -= bytes;
  }
}

function orNothing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
