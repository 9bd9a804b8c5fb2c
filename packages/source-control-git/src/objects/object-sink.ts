import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ObjectId, failpoint } from '@litterbox/core/provider';
import { syncDirectory } from '../git/durable-files.ts';
import { hashObject, type ObjectFormat, type ObjectType } from './object-format.ts';
import type { ObjectReader } from './object-reader.ts';
import { compress, PackWriter } from './pack-writer.ts';
import type { JournalledObject } from './revision-journal.ts';
import { MAX_STORED_BYTES, storedZlib } from './stored-zlib.ts';

/** Up to here a file per object is cheaper than a pack; beyond, flushing each file dominates. */
const MAX_LOOSE_OBJECTS = 48;
/** Larger contents stream through the pack writer. */
export const MAX_WHOLE_BYTES = 4 * 1024 * 1024;
/** Up to here writing contents twice, into the journal and as objects, is cheaper than syncing each object. */
const MAX_JOURNALLED_BYTES = 256 * 1024;

const fsyncAsync = promisify(fsync);

interface LooseFile {
  readonly descriptor: number;
  readonly temporary: string;
}

/**
 * Writes objects of one revision into a store: loose files while they are few, one pack from then on. Nothing of it
 * is visible as history before a ref names it, so an abandoned sink leaves at most unreachable objects.
 */
export class ObjectSink implements Disposable {
  readonly #objects: string;
  readonly #format: ObjectFormat;
  readonly #reader: ObjectReader;
  /** Put, and not in a file yet: the journal may take them. */
  readonly #small = new Map<ObjectId, JournalledObject>();
  #smallBytes = 0;
  readonly #loose = new Map<ObjectId, LooseFile>();
  #pack: PackWriter | undefined;

  constructor(gitDirectory: string, format: ObjectFormat, reader: ObjectReader) {
    this.#objects = join(gitDirectory, 'objects');
    this.#format = format;
    this.#reader = reader;
  }

  /** How many objects are or will be loose. */
  get looseCount(): number {
    return this.#small.size + this.#loose.size;
  }

  /** Everything that was put, when it is little enough for the journal. */
  get journalled(): readonly JournalledObject[] | undefined {
    return this.#pack || this.#loose.size > 0 ? undefined : [...this.#small.values()];
  }

  /** @param oid its name, where that is known already */
  put(type: ObjectType, bytes: Buffer, oid = hashObject(this.#format, type, bytes)): ObjectId {
    if (type !== 'blob') this.#reader.remember(oid, type, bytes);
    if (this.#small.has(oid) || this.#loose.has(oid)) return oid;
    // No look for a file there: a pack may hold what is loose too, and it takes a hundred thousand.
    if (this.#pack || this.looseCount >= MAX_LOOSE_OBJECTS) {
      this.#openPack().put(oid, type, bytes);
      return oid;
    }
    if (existsSync(this.#pathOf(oid))) return oid;
    this.#small.set(oid, { oid, type, bytes });
    this.#smallBytes += bytes.length;
    if (this.#smallBytes > MAX_JOURNALLED_BYTES) this.stage();
    return oid;
  }

  /** Writes what is not in a file yet, under names that mean nothing. */
  stage(): void {
    for (const [oid, { type, bytes }] of this.#small) {
      const temporary = join(this.#objects, `tmp_obj_${process.pid}-${randomBytes(6).toString('hex')}`);
      const descriptor = openSync(temporary, 'wx', 0o444);
      this.#loose.set(oid, { descriptor, temporary });
      this.#small.delete(oid);
      const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]);
      writeFully(descriptor, whole.length <= MAX_STORED_BYTES ? storedZlib(whole) : compress(whole));
    }
    this.#smallBytes = 0;
  }

  /** A blob of a known size that does not fit in memory. */
  async stream(sizeBytes: number, body: AsyncIterable<Uint8Array>): Promise<ObjectId> {
    return this.#openPack().stream('blob', sizeBytes, body);
  }

  /** Makes everything written durable and readable. */
  async finish(): Promise<void> {
    this.stage();
    await Promise.all([...this.#loose.values()].map(({ descriptor }) => fsyncAsync(descriptor)));
    await Promise.all([...this.reveal()].map(syncDirectory));
    await this.#pack?.finish();
    this.#pack = undefined;
  }

  /**
   * Makes staged objects readable, and durable no more than they are. A name in the store promises that its content is safe, so
   * the journal has to hold them by then.
   *
   * @returns directories that got a name
   */
  reveal(): ReadonlySet<string> {
    const directories = new Set<string>();
    for (const [oid, { descriptor, temporary }] of this.#loose) {
      closeSync(descriptor);
      this.#loose.delete(oid);
      const directory = join(this.#objects, oid.slice(0, 2));
      if (!existsSync(directory)) {
        mkdirSync(directory, { recursive: true });
        directories.add(this.#objects);
      }
      renameSync(temporary, this.#pathOf(oid));
      failpoint('objects.after-rename');
      directories.add(directory);
    }
    return directories;
  }

  #openPack(): PackWriter {
    this.#pack ??= new PackWriter(join(this.#objects, 'pack'), this.#format);
    return this.#pack;
  }

  #pathOf(oid: ObjectId): string {
    return join(this.#objects, oid.slice(0, 2), oid.slice(2));
  }

  [Symbol.dispose](): void {
    for (const { descriptor, temporary } of this.#loose.values()) {
      closeSync(descriptor);
      rmSync(temporary, { force: true });
    }
    this.#loose.clear();
    this.#pack?.[Symbol.dispose]();
    this.#pack = undefined;
  }
}

export function writeFully(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}
