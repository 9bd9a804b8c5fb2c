import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { LitterboxError, ObjectId, failpoint } from '@litterbox/core/provider';
import { writeDurable } from '../git/durable-files.ts';
import type { ObjectType } from './object-format.ts';

const fdatasyncAsync = promisify(fdatasync);

/** The file's first line: a word, and 16 random bytes in hexadecimal that every entry begins with. */
const HEADER = /^litterbox revisions 1 ([0-9a-f]{32})\n/;
const HEADER_BYTES = 'litterbox revisions 1 '.length + 32 + 1;
const SALT_BYTES = 16;
/** Salt, length of the body (32 bits, big-endian), SHA-256 over salt, length and body. */
const HEAD_BYTES = SALT_BYTES + 4 + 32;
/** A file that keeps its length is synced in half the time, and waits for nobody who uses the same file system. */
const ROOM_BYTES = 512 * 1024;
/** No entry of ours is longer; what says so is damaged. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export interface JournalledObject {
  readonly oid: ObjectId;
  readonly type: ObjectType;
  readonly bytes: Buffer;
}

export interface JournalledRef {
  readonly name: string;
  /** `undefined`: there is none. */
  readonly old: ObjectId | undefined;
  readonly value: ObjectId | undefined;
}

/** A change of refs with every object that it adds: enough to make it again. */
export interface JournalledChange {
  readonly refs: readonly JournalledRef[];
  readonly objects: readonly JournalledObject[];
}

export interface JournalEntry extends JournalledChange {
  /** Tells it from every other one. */
  readonly checksum: string;
}

/**
 * Changes of refs that the bytes of a journal may hold, oldest first, none left out: nobody looks whether an entry is whole, which takes most
 * of the time. For who does nothing but look whether there is something to do.
 */
export function possibleRefs(path: string): readonly Pick<JournalEntry, 'refs'>[] {
  const bytes = readJournal(path);
  if (!bytes) return [];
  const salt = saltOf(bytes);
  if (!salt) throw corrupt(path, 0);
  const entries: JournalEntry[] = [];
  let at = HEADER_BYTES;
  for (let next = bodyAt(bytes, at, salt); next; next = bodyAt(bytes, at, salt)) {
    entries.push(decode(next.body, ''));
    at = next.end;
  }
  if (bytes.indexOf(salt, at) >= 0) throw corrupt(path, at); // it may only be killed half-way: who looks closer knows
  return entries;
}

/**
 * The last revisions of a store once more, in one file that is synced at every one of them: objects and refs themselves need not
 * be then, and are made again from here after a power cut. Entries are appended under the store's lock, where the file holds zeros;
 * they are taken out all at once, by a new file.
 *
 * A last entry that is not whole was never acknowledged: it is passed over, and the next one takes its place. One that is damaged
 * and has another behind it is `STORE_CORRUPT`. Entries begin with a random word of the file, so that no content of an agent's can
 * pass for one.
 */
export class RevisionJournal {
  readonly #path: string;
  #file: number | undefined;
  #salt: Buffer = Buffer.alloc(0);
  /** What the open file holds as this process left it or read it last. */
  #seen: { readonly end: number; readonly entries: number } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** How much is in it, as far as this process knows. */
  get usage(): { readonly entries: number; readonly bytes: number } {
    return { entries: this.#seen?.entries ?? 0, bytes: this.#seen?.end ?? 0 };
  }

  /**
   * Durable when it resolves; after a failure it is as before, or holds an entry that nobody was told of. The caller holds the
   * store's lock.
   *
   * @param meanwhile done while the disk is at work; when it throws, the entry is taken back
   */
  async append(change: JournalledChange, meanwhile: () => void = () => {}): Promise<void> {
    const file = await this.#open();
    const { end, entries } = this.#place(file);
    const entry = this.#encode(change);
    try {
      for (let at = 0; at < entry.length; ) at += writeSync(file, entry, at, entry.length - at, end + at);
      failpoint('journal.before-sync');
      const synced = fdatasyncAsync(file);
      try {
        meanwhile();
      } finally {
        await synced;
      }
    } catch (error) {
      this.#seen = undefined;
      writeZeros(file, end, end + entry.length);
      throw error;
    }
    this.#seen = { end: end + entry.length, entries: entries + 1 };
  }

  /** What is in it, oldest first. Needs no lock. @throws LitterboxError `STORE_CORRUPT`. */
  read(): readonly JournalEntry[] {
    const bytes = readJournal(this.#path);
    return bytes ? this.#parse(bytes).entries : [];
  }

  /** Takes everything out. The caller holds the store's lock and has made durable what is in it. */
  async clear(): Promise<void> {
    try {
      await writeDurable(this.#path, fresh());
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      ftruncateSync(await this.#open(), HEADER_BYTES); // room comes back with the next one
    }
    this.close();
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#seen = undefined;
  }

  async #open(): Promise<number> {
    if (this.#file !== undefined && fstatSync(this.#file).nlink > 0) return this.#file;
    this.close();
    this.#file = openExisting(this.#path);
    if (this.#file === undefined) {
      await writeDurable(this.#path, fresh());
      this.#file = openSync(this.#path, 'r+');
    }
    return this.#file;
  }

  /** Where the next entry goes. What a killed process left there in part is taken away. */
  #place(file: number): { readonly end: number; readonly entries: number } {
    // Another process writes its next entry just there, or a new file.
    if (this.#seen && readBytes(file, this.#seen.end, SALT_BYTES).every((byte) => byte === 0)) return this.#seen;
    const bytes = readBytes(file, 0, fstatSync(file).size);
    const { end, entries } = this.#parse(bytes);
    const rest = bytes.subarray(end);
    if (!rest.equals(Buffer.alloc(rest.length))) writeZeros(file, end, bytes.length);
    return { end, entries: entries.length };
  }

  #encode({ refs, objects }: JournalledChange): Buffer {
    const facts = { refs, objects: objects.map(({ oid, type, bytes }) => ({ oid, type, size: bytes.length })) };
    const body = Buffer.concat([Buffer.from(`${JSON.stringify(facts)}\n`), ...objects.map(({ bytes }) => bytes)]);
    const head = Buffer.alloc(HEAD_BYTES);
    this.#salt.copy(head);
    head.writeUInt32BE(body.length, SALT_BYTES);
    checksumOf(head, body).copy(head, SALT_BYTES + 4);
    return Buffer.concat([head, body]);
  }

  #parse(bytes: Buffer): { readonly entries: readonly JournalEntry[]; readonly end: number } {
    const salt = saltOf(bytes);
    if (!salt) throw corrupt(this.#path, 0);
    this.#salt = salt;
    const entries: JournalEntry[] = [];
    let at = HEADER_BYTES;
    for (let next = entryAt(bytes, at, this.#salt); next; next = entryAt(bytes, at, this.#salt)) {
      entries.push(decode(next.body, next.checksum));
      at = next.end;
    }
    // Nothing that is whole may lie behind the end.
    for (let later = bytes.indexOf(this.#salt, at); later >= 0; later = bytes.indexOf(this.#salt, later + 1))
      if (entryAt(bytes, later, this.#salt)) throw corrupt(this.#path, at);
    return { entries, end: at };
  }
}

function corrupt(path: string, at: number): LitterboxError {
  return new LitterboxError('STORE_CORRUPT', `The journal of revisions is damaged at byte ${at}: ${path}.`, {
    operation: 'journal.read',
    facts: { path, at },
    hint: 'Restore it from a backup of the state directory, or move it away: revisions that were recorded last may then be missing after a power cut.',
  });
}

function readJournal(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function saltOf(bytes: Buffer): Buffer | undefined {
  const [, salt] = HEADER.exec(bytes.toString('latin1', 0, HEADER_BYTES)) ?? [];
  return salt === undefined ? undefined : Buffer.from(salt, 'hex');
}

/** An empty one, with a word of its own. */
function fresh(): Buffer {
  const bytes = Buffer.alloc(ROOM_BYTES);
  bytes.write(`litterbox revisions 1 ${randomBytes(SALT_BYTES).toString('hex')}\n`, 'latin1');
  return bytes;
}

/** Less at the end of the file. */
function readBytes(file: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let at = 0;
  for (let count = -1; at < length && count !== 0; at += count) {
    count = readSync(file, bytes, at, length - at, from + at);
  }
  return bytes.subarray(0, at);
}

function writeZeros(file: number, from: number, to: number): void {
  const zeros = Buffer.alloc(to - from);
  for (let at = 0; at < zeros.length; ) at += writeSync(file, zeros, at, zeros.length - at, from + at);
}

function openExisting(path: string): number | undefined {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function checksumOf(head: Buffer, body: Buffer): Buffer {
  return createHash('sha256')
    .update(head.subarray(0, SALT_BYTES + 4))
    .update(body)
    .digest();
}

function bodyAt(bytes: Buffer, at: number, salt: Buffer) {
  if (at + HEAD_BYTES > bytes.length || !bytes.subarray(at, at + SALT_BYTES).equals(salt)) return undefined;
  const head = bytes.subarray(at, at + HEAD_BYTES);
  const length = head.readUInt32BE(SALT_BYTES);
  const end = at + HEAD_BYTES + length;
  if (length > MAX_BODY_BYTES || end > bytes.length) return undefined;
  return { head, body: bytes.subarray(at + HEAD_BYTES, end), end };
}

function entryAt(bytes: Buffer, at: number, salt: Buffer) {
  const found = bodyAt(bytes, at, salt);
  if (!found) return undefined;
  const { head, body, end } = found;
  const checksum = checksumOf(head, body);
  return checksum.equals(head.subarray(SALT_BYTES + 4)) ? { body, checksum: checksum.toString('hex'), end } : undefined;
}

function decode(body: Buffer, checksum: string): JournalEntry {
  const newline = body.indexOf(10);
  const facts = JSON.parse(body.toString('utf8', 0, newline)) as {
    readonly refs: readonly { readonly name: string; readonly old?: string; readonly value?: string }[];
    readonly objects: readonly { readonly oid: string; readonly type: ObjectType; readonly size: number }[];
  };
  let at = newline + 1;
  const objects = facts.objects.map(({ oid, type, size }) => {
    const bytes = body.subarray(at, at + size);
    at += size;
    return { oid: ObjectId.parse(oid), type, bytes };
  });
  const id = (text: string | undefined) => (text === undefined ? undefined : ObjectId.parse(text));
  return {
    checksum,
    objects,
    refs: facts.refs.map(({ name, old, value }) => ({ name, old: id(old), value: id(value) })),
  };
}
