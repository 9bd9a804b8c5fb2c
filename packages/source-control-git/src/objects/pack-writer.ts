import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fsync, ftruncateSync, mkdirSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32, createDeflate, deflateSync } from 'node:zlib';
import { type ObjectId } from '@litterbox/core/provider';
import { syncDirectory } from '../git/durable-files.ts';
import { type ObjectFormat, type ObjectType, startHash } from './object-format.ts';
import { storedZlib } from './stored-zlib.ts';

const TYPE_NUMBERS: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3 };
const BUFFER_BYTES = 256 * 1024;

const fsyncAsync = promisify(fsync);

/** Where objects are in a pack, in columns: there may be a hundred thousand. */
interface Packed {
  /** By object id, which row is its own. */
  readonly rows: Map<ObjectId, number>;
  readonly offsets: number[];
  readonly checksums: number[];
}

/**
 * A git pack (gitformat-pack) written front to back, its index beside it. In process because every object id is
 * computed here anyway: `git index-pack` would inflate and hash everything a second time.
 */
export class PackWriter implements Disposable {
  readonly #directory: string;
  readonly #format: ObjectFormat;
  readonly #temporary: string;
  readonly #descriptor: number;
  readonly #objects: Packed = { rows: new Map(), offsets: [], checksums: [] };
  readonly #pending = Buffer.allocUnsafe(BUFFER_BYTES);
  #pendingBytes = 0;
  #offset = 0;
  #flushed = 0;
  #isOpen = true;

  constructor(directory: string, format: ObjectFormat) {
    this.#directory = directory;
    this.#format = format;
    mkdirSync(directory, { recursive: true });
    this.#temporary = join(directory, `tmp_pack_${process.pid}-${randomBytes(6).toString('hex')}`);
    this.#descriptor = openSync(this.#temporary, 'wx+', 0o444);
    this.#append(packHeader(0)); // the count is filled in at the end
  }

  put(oid: ObjectId, type: ObjectType, bytes: Buffer): void {
    if (this.#objects.rows.has(oid)) return;
    const offset = this.#offset;
    const header = entryHeader(type, bytes.length);
    const body = compress(bytes);
    this.#append(header);
    this.#append(body);
    this.#note(oid, offset, crc32(body, crc32(header)));
  }

  async stream(type: ObjectType, sizeBytes: number, body: AsyncIterable<Uint8Array>): Promise<ObjectId> {
    const offset = this.#offset;
    const header = entryHeader(type, sizeBytes);
    this.#append(header);
    let crc = crc32(header);
    let seen = 0;
    const hash = startHash(this.#format, type, sizeBytes);
    const deflate = createDeflate({ level: 1 });
    const storing = (async () => {
      for await (const compressed of deflate as AsyncIterable<Buffer>) {
        crc = crc32(compressed, crc);
        this.#append(compressed);
      }
    })();
    storing.catch(() => {});
    try {
      for await (const chunk of body) {
        seen += chunk.length;
        hash.update(chunk);
        if (!deflate.write(chunk)) await new Promise((resolve) => deflate.once('drain', resolve));
      }
      if (seen !== sizeBytes) throw new Error(`${seen} bytes where ${sizeBytes} were announced`);
    } catch (error) {
      deflate.destroy();
      await storing.catch(() => {});
      this.#truncate(offset);
      throw error;
    }
    deflate.end();
    await storing;
    const oid = hash.digest('hex') as ObjectId;
    if (this.#objects.rows.has(oid)) this.#truncate(offset);
    else this.#note(oid, offset, crc);
    return oid;
  }

  async finish(): Promise<void> {
    this.#flush();
    const count = this.#objects.rows.size;
    writeSync(this.#descriptor, packHeader(count), 0, 12, 0);
    const checksum = this.#checksum();
    writeSync(this.#descriptor, checksum, 0, checksum.length, this.#offset);
    await fsyncAsync(this.#descriptor);
    closeSync(this.#descriptor);
    this.#isOpen = false;
    const name = join(this.#directory, `pack-${checksum.toString('hex')}`);
    const index = packIndex(this.#format, this.#objects, checksum);
    const temporary = `${this.#temporary}.idx`;
    const descriptor = openSync(temporary, 'wx', 0o444);
    try {
      for (let at = 0; at < index.length; ) at += writeSync(descriptor, index, at);
      await fsyncAsync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    // The index makes the pack visible, so it comes second.
    renameSync(this.#temporary, `${name}.pack`);
    renameSync(temporary, `${name}.idx`);
    await syncDirectory(this.#directory);
  }

  #note(oid: ObjectId, offset: number, checksum: number): void {
    const { rows, offsets, checksums } = this.#objects;
    rows.set(oid, offsets.push(offset) - 1);
    checksums.push(checksum);
  }

  #append(bytes: Buffer): void {
    this.#offset += bytes.length;
    if (this.#pendingBytes + bytes.length > BUFFER_BYTES) this.#flush();
    if (bytes.length > BUFFER_BYTES) this.#write(bytes);
    else this.#pendingBytes += bytes.copy(this.#pending, this.#pendingBytes);
  }

  #flush(): void {
    this.#write(this.#pending.subarray(0, this.#pendingBytes));
    this.#pendingBytes = 0;
  }

  #write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const count = writeSync(this.#descriptor, bytes, at, bytes.length - at, this.#flushed);
      at += count;
      this.#flushed += count;
    }
  }

  /** Takes back what was appended since: the index has to name every entry of the pack once. */
  #truncate(offset: number): void {
    this.#flush();
    ftruncateSync(this.#descriptor, offset);
    this.#offset = this.#flushed = offset;
  }

  #checksum(): Buffer {
    const hash = createHash(this.#format.name);
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    for (let at = 0; at < this.#offset; ) {
      const count = readSync(this.#descriptor, buffer, 0, buffer.length, at);
      if (count === 0) break;
      hash.update(buffer.subarray(0, count));
      at += count;
    }
    return hash.digest();
  }

  [Symbol.dispose](): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
    rmSync(this.#temporary, { force: true });
    rmSync(`${this.#temporary}.idx`, { force: true });
  }
}

/** Up to here setting up a compressor takes more, and leaves more behind for the collector, than it could ever save. */
const MAX_UNCOMPRESSED_BYTES = 256;

/** Node keeps a whole chunk of output alive for each result, so the chunk is made no larger than it has to be. */
export function compress(bytes: Buffer): Buffer {
  if (bytes.length <= MAX_UNCOMPRESSED_BYTES) return storedZlib(bytes);
  const chunkSize = Math.max(64, Math.min(bytes.length + 32, 64 * 1024));
  // A window of the usual 32 KiB takes 268 KB for each call, which is most of the time for a small file.
  const small = bytes.length <= 4096 ? { windowBits: 12, memLevel: 4 } : {};
  return deflateSync(bytes, { level: 1, chunkSize, ...small });
}

function packHeader(count: number): Buffer {
  const header = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  header.writeUInt32BE(count, 8);
  return header;
}

/** Type and size, seven bits a byte, four in the first. */
function entryHeader(type: ObjectType, sizeBytes: number): Buffer {
  const bytes: number[] = [];
  let rest = Math.floor(sizeBytes / 16);
  bytes.push((TYPE_NUMBERS[type] << 4) | (sizeBytes % 16));
  while (rest > 0) {
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
    bytes.push(rest % 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from(bytes);
}

/** Version 2: fan-out, names, checksums, offsets, offsets beyond 2 GiB, two trailing hashes. */
function packIndex(format: ObjectFormat, objects: Packed, packChecksum: Buffer): Buffer {
  const sorted = [...objects.rows.keys()].sort();
  const head = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);
  const fanOut = Buffer.alloc(1024);
  const names = Buffer.alloc(sorted.length * format.byteLength);
  const checksums = Buffer.alloc(sorted.length * 4);
  const offsets = Buffer.alloc(sorted.length * 4);
  const large: Buffer[] = [];
  const counts = Array.from({ length: 256 }, () => 0);
  for (const [index, oid] of sorted.entries()) {
    const row = objects.rows.get(oid) ?? 0;
    const offset = objects.offsets[row] ?? 0;
    names.write(oid, index * format.byteLength, 'hex');
    const first = names[index * format.byteLength] ?? 0;
    counts[first] = (counts[first] ?? 0) + 1;
    checksums.writeUInt32BE((objects.checksums[row] ?? 0) >>> 0, index * 4);
    if (offset < 0x8000_0000) offsets.writeUInt32BE(offset, index * 4);
    else {
      offsets.writeUInt32BE((0x8000_0000 + large.length) >>> 0, index * 4);
      const wide = Buffer.alloc(8);
      wide.writeBigUInt64BE(BigInt(offset));
      large.push(wide);
    }
  }
  let total = 0;
  for (const [first, count] of counts.entries()) fanOut.writeUInt32BE((total += count), first * 4);
  const body = Buffer.concat([head, fanOut, names, checksums, offsets, ...large, packChecksum]);
  return Buffer.concat([body, createHash(format.name).update(body).digest()]);
}
