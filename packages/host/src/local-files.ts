import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { type Dirent, constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import {
  decodeRaw,
  encodeRaw,
  type FileStat,
  type FileType,
  type HostFiles,
  LitterboxError,
  shown,
} from '@litterbox/core/provider';
import { hostError } from './host-error.ts';
import { removeTree } from './remove-tree.ts';

/** Reading more than this is a mistake: what is large is streamed. */
const DEFAULT_MAX_BYTES = 16 * 2 ** 20;

const bytesOf = (path: string) => Buffer.from(encodeRaw(path));
const errnoOf = (error: unknown) => (error as NodeJS.ErrnoException).code;
const isAbsent = (error: unknown) => errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR';

function typeOf(entry: Stats | Dirent<Buffer>): FileType {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : 'special';
}

/** Files of this machine. */
export class LocalFiles implements HostFiles {
  async read(
    path: string,
    options?: { readonly signal?: AbortSignal | undefined; readonly maxBytes?: number },
  ): Promise<Uint8Array | undefined> {
    options?.signal?.throwIfAborted();
    const maxBytes = options?.maxBytes ?? DEFAULT_MAX_BYTES;
    try {
      await using file = await open(bytesOf(path), constants.O_RDONLY | constants.O_NONBLOCK);
      const parts: Uint8Array[] = [];
      let total = 0;
      // Not readFile: files of /proc say that they are empty, and any file may grow while it is read.
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, null);
        if (bytesRead === 0) return new Uint8Array(Buffer.concat(parts));
        total += bytesRead;
        if (total > maxBytes) {
          throw new LitterboxError('RESOURCE_EXHAUSTED', `${shown(path)} is larger than ${maxBytes} bytes.`, {
            operation: 'file.read',
          });
        }
        parts.push(buffer.subarray(0, bytesRead));
      }
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error instanceof LitterboxError ? error : hostError('file.read', path, error);
    }
  }

  async write(
    path: string,
    bytes: Uint8Array,
    options?: { readonly signal?: AbortSignal | undefined; readonly mode?: number },
  ): Promise<void> {
    options?.signal?.throwIfAborted();
    const temporary = bytesOf(`${path}.${randomUUID()}.tmp`);
    try {
      await writeNew(temporary, bytes, options?.mode ?? 0o600);
      // It is closed by now: a program that somebody has open for writing cannot be started.
      await rename(temporary, bytesOf(path));
    } catch (error) {
      await rm(temporary, { force: true });
      throw hostError('file.write', path, error);
    }
  }

  async makeDirectory(
    path: string,
    options?: { readonly signal?: AbortSignal | undefined; readonly mode?: number },
  ): Promise<void> {
    options?.signal?.throwIfAborted();
    try {
      await mkdir(bytesOf(path), { recursive: true, mode: options?.mode ?? 0o700 });
    } catch (error) {
      throw hostError('file.make-directory', path, error);
    }
  }

  async list(path: string, options?: { readonly signal?: AbortSignal | undefined }) {
    options?.signal?.throwIfAborted();
    try {
      const entries = await readdir(bytesOf(path), { withFileTypes: true, encoding: 'buffer' });
      return Array.from(entries, (entry) => ({ name: decodeRaw(entry.name), type: typeOf(entry) }));
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw hostError('file.list', path, error);
    }
  }

  async stat(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<FileStat | undefined> {
    options?.signal?.throwIfAborted();
    try {
      const stats = await lstat(bytesOf(path));
      return { type: typeOf(stats), sizeBytes: stats.size, mode: stats.mode & 0o7777, uid: stats.uid, gid: stats.gid };
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw hostError('file.stat', path, error);
    }
  }

  async rename(source: string, target: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    options?.signal?.throwIfAborted();
    try {
      await rename(bytesOf(source), bytesOf(target));
    } catch (error) {
      throw hostError('file.rename', source, error);
    }
  }

  async remove(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    options?.signal?.throwIfAborted();
    try {
      await removeTree(path);
    } catch (error) {
      throw hostError('file.remove', path, error);
    }
  }
}

async function writeNew(path: Buffer, bytes: Uint8Array, mode: number): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL; // the last follows no link either: open(2)
  await using file = await open(path, flags, mode);
  await file.chmod(mode); // the mode of open() is cut by the umask
  await file.writeFile(bytes);
  await file.sync();
}
