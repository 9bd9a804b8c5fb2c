import {
  archiveFiles,
  type CallOptions,
  copyPath,
  type FileStatus,
  type FoundName,
  isLitterboxError,
  listDirectory,
  makeDirectory,
  readFile,
  readFileStatus,
  removePath,
  type RevisionResult,
  writeFile,
  writeFiles,
} from '@litterbox/core';
import { type Content, readContent } from './read-content.ts';
import type { PerformIn } from './perform-in.ts';

/** How a file is written. */
export interface WriteOptions extends CallOptions {
  /** The subject of the revision. */
  readonly message?: string;
  /** How long to wait for a call of another program in this sandbox, in milliseconds. @defaultValue 10,000 */
  readonly waitMs?: number;
}

/** How a path of a sandbox is changed. */
export interface ChangeOptions extends WriteOptions {
  /** Directories with all that is in them; at {@link SandboxFiles.mkdir} those above too. @defaultValue false */
  readonly recursive?: boolean;
}

/**
 * The files of a sandbox, inside the sandbox: no path means anything on this machine. Relative paths start at the workspace.
 *
 * `read`, `readText`, `stat`, `list`, `exists`, `download` and `archive` take no turn: they answer while a command runs. The others wait for
 * their turn and are recorded, each call as one revision. A file is read and written as a whole, up to 64 MiB.
 *
 * @throws LitterboxError `NOT_FOUND`, `IS_A_DIRECTORY`, `NOT_A_DIRECTORY`, `NOT_A_REGULAR_FILE`, `FILE_TOO_LARGE`, `PERMISSION_DENIED`, and
 *   `PATH_GIT_DIR` for a change
 */
export class SandboxFiles {
  readonly #perform: PerformIn;

  /** @internal */
  constructor(perform: PerformIn) {
    this.#perform = perform;
  }

  /** A file's bytes. */
  async read(path: string, options?: CallOptions): Promise<Uint8Array> {
    return await this.#perform(readFile, { path }, options);
  }

  /** A file as text. Bytes that are not UTF-8 are U+FFFD. */
  async readText(path: string, options?: CallOptions): Promise<string> {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await this.read(path, options));
  }

  /** Replaces a file, or makes it and the directories above it. A stream is read to its end first. */
  async write(path: string, content: Content, { signal, ...input }: WriteOptions = {}): Promise<RevisionResult> {
    return await this.#perform(writeFile, { ...input, path, content: await readContent(content, signal) }, { signal });
  }

  /** The type, size and time of what lies at a path. */
  async stat(path: string, options?: CallOptions): Promise<FileStatus> {
    return await this.#perform(readFileStatus, { path }, options);
  }

  /** The names in a directory, hidden ones too. @param path the workspace when left out */
  async list(path = '.', options?: CallOptions): Promise<readonly FoundName[]> {
    return await this.#perform(listDirectory, { path }, options);
  }

  /** Whether there is a file, directory or anything else at a path. A link is something wherever it leads. */
  async exists(path: string, options?: CallOptions): Promise<boolean> {
    try {
      await this.stat(path, options);
      return true;
    } catch (error) {
      if (isLitterboxError(error, 'NOT_FOUND') || isLitterboxError(error, 'NOT_A_DIRECTORY')) return false;
      throw error;
    }
  }

  /** Makes a directory. Without `recursive` the one above has to be there, and this one not. */
  async mkdir(path: string, { signal, ...input }: ChangeOptions = {}): Promise<RevisionResult> {
    return await this.#perform(makeDirectory, { ...input, path }, { signal });
  }

  /** Removes. Without `recursive` a file, a link or an empty directory. */
  async remove(path: string, { signal, ...input }: ChangeOptions = {}): Promise<RevisionResult> {
    return await this.#perform(removePath, { ...input, path }, { signal });
  }

  /** Copies as it is, links as links. Without `recursive` a file or a link. */
  async copy(path: string, to: string, { signal, ...input }: ChangeOptions = {}): Promise<RevisionResult> {
    return await this.#perform(copyPath, { ...input, path, to }, { signal });
  }

  /**
   * Writes several files in one turn, as one revision. The first that fails ends it: those before it stay, and the next call records them.
   *
   * @param files their contents by their paths, 1 to 10,000
   */
  async upload(
    files: Readonly<Record<string, Uint8Array | string>>,
    { signal, ...input }: WriteOptions = {},
  ): Promise<RevisionResult> {
    const listed = Object.entries(files).map(([path, content]) => ({ path, content }));
    return await this.#perform(writeFiles, { ...input, files: listed }, { signal });
  }

  /** Several files' bytes by their paths, in the order that was asked for. Rejects where one of them cannot be read. */
  async download(paths: readonly string[], options?: CallOptions): Promise<ReadonlyMap<string, Uint8Array>> {
    const files = new Map<string, Uint8Array>();
    for (const path of paths) files.set(path, await this.read(path, options));
    return files;
  }

  /**
   * All files of the workspace as one tar archive, without what git ignores; an agent wrote it. What the workspace holds is recorded first,
   * as for a diff.
   */
  async archive(options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return (await this.#perform(archiveFiles, {}, options)).tar;
  }
}
