import { decodeRaw, encodeRaw } from '@litterbox/core/provider';
import type { MachineProcess } from './machine-process.ts';

/** The files of a sandbox, as the script of its commands reads and writes them. */
export class ScriptedFiles {
  readonly #process: MachineProcess;

  /** @internal */
  constructor(process: MachineProcess) {
    this.#process = process;
  }

  /** A file as text. Nothing where there is none. */
  read(path: string): string | undefined {
    const bytes = this.readBytes(path);
    return bytes && decodeRaw(bytes);
  }

  /** A file's bytes. Nothing where there is none. */
  readBytes(path: string): Uint8Array | undefined {
    const node = this.#process.machine.files.look(this.#process.path(path));
    return node?.type === 'file' ? node.content.slice() : undefined;
  }

  /** Replaces a file, or makes it and the directories above it. */
  write(path: string, content: string | Uint8Array, { executable }: { readonly executable?: boolean } = {}): void {
    const { files } = this.#process.machine;
    const absolute = this.#process.path(path);
    const above = absolute.slice(0, absolute.lastIndexOf('/'));
    if (above !== '') files.makeDirectory(above, true);
    const bytes = typeof content === 'string' ? encodeRaw(content) : content.slice();
    files.write(absolute, bytes, executable === undefined ? undefined : executable ? 0o755 : 0o644);
  }

  /** Removes what is there, with all below it. Nothing happens where there is nothing. */
  remove(path: string): void {
    const { files } = this.#process.machine;
    const absolute = this.#process.path(path);
    if (files.look(absolute, false)) files.remove(absolute);
  }

  /** The names in a directory, sorted. Nothing where there is none. */
  list(path = '.'): readonly string[] | undefined {
    const node = this.#process.machine.files.look(this.#process.path(path));
    return node?.type === 'directory' ? [...node.children.keys()].sort() : undefined;
  }
}
