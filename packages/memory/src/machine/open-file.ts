import type { MemoryFiles, PlainFile } from './memory-files.ts';

/** Held open by one process or several; the last one to close it ends it. */
export interface OpenFile {
  holders: number;
  /** Nothing at the end. At most so many bytes where that is said. */
  read(maxBytes?: number): Promise<Uint8Array | undefined>;
  /** False when nobody will ever read it. */
  write(bytes: Uint8Array): Promise<boolean>;
  /** Nobody holds it any more. */
  end(): void;
}

/** More is not taken before somebody reads. */
const ROOM_BYTES = 64 * 1024;

/** Two ends: what is written into the one is read from the other. */
export function pipe(): { readonly reader: OpenFile; readonly writer: OpenFile } {
  const held = { parts: [] as Uint8Array[], bytes: 0, isWritten: true, isRead: true };
  let woken: (() => void)[] = [];
  const wake = () => {
    const all = woken;
    woken = [];
    for (const one of all) one();
  };
  const change = () => new Promise<void>((resolve) => woken.push(resolve));
  const reader: OpenFile = {
    holders: 1,
    async read(maxBytes = Number.POSITIVE_INFINITY) {
      while (held.parts.length === 0 && held.isWritten) await change();
      const [first, ...rest] = held.parts;
      if (!first) return undefined;
      const taken = first.subarray(0, maxBytes);
      held.parts = taken.length < first.length ? [first.subarray(maxBytes), ...rest] : rest;
      held.bytes -= taken.length;
      wake();
      return taken;
    },
    write: async () => false,
    end() {
      held.isRead = false;
      wake();
    },
  };
  const writer: OpenFile = {
    holders: 1,
    read: async () => undefined,
    async write(bytes) {
      while (held.bytes > ROOM_BYTES && held.isRead) await change();
      if (!held.isRead) return false;
      if (bytes.length > 0) held.parts.push(bytes.slice());
      held.bytes += bytes.length;
      wake();
      return true;
    },
    end() {
      held.isWritten = false;
      wake();
    },
  };
  return { reader, writer };
}

/** The content of a file, from its start. */
export function fileReader(content: Uint8Array): OpenFile {
  let at = 0;
  return {
    holders: 1,
    async read(maxBytes = content.length) {
      if (at >= content.length) return undefined;
      const part = content.subarray(at, at + maxBytes);
      at += part.length;
      return part;
    },
    write: async () => true,
    end: () => {},
  };
}

/** Adds to a file. */
export function fileWriter(files: MemoryFiles, file: PlainFile): OpenFile {
  return {
    holders: 1,
    read: async () => undefined,
    async write(bytes) {
      file.content = Buffer.concat([file.content, bytes]);
      files.touch(file);
      return true;
    },
    end: () => {},
  };
}

/** Holds nothing, and takes everything. */
export function nothing(): OpenFile {
  return { holders: 1, read: async () => undefined, write: async () => true, end: () => {} };
}

export function close(file: OpenFile | undefined): void {
  if (!file) return;
  file.holders -= 1;
  if (file.holders === 0) file.end();
}
