import { LitterboxError, type ObjectId } from '@litterbox/core/provider';
import type { ByteString } from '../git/byte-text.ts';
import { type Commit, parseCommit } from './commit-object.ts';
import type { ObjectFormat, ObjectType } from './object-format.ts';
import type { GitProcess, GitRunner } from '../git/run-git.ts';
import { parseTree, type TreeEntry } from './tree-object.ts';
import { GitFailure } from '../git/git-failure.ts';

const MAX_CACHE_BYTES = 4 * 1024 * 1024;
const MAX_CACHED_OBJECT_BYTES = 1024 * 1024;
/** Rules and records are read again and again; other blobs are not. */
const MAX_CACHED_BLOB_BYTES = 32 * 1024;
/** Directories that are kept parsed: those of a workspace that an agent is at work in, as they were and as they are now. */
const MAX_PARSED_TREES = 16;
const MAX_PARSED_ENTRIES = 2_000;

interface StoredObject {
  readonly type: ObjectType | 'tag';
  readonly bytes: Buffer;
}

interface Waiting {
  /** A larger one is not kept. */
  readonly mostBytes: number;
  resolve(object: StoredObject | 'too-large' | undefined): void;
  reject(error: unknown): void;
}

/**
 * Trees, commits and small blobs of a store, through one `git cat-file --batch` that is kept, so that reading one
 * costs a pipe's round trip and no process. What was read or written lately is remembered: objects never change.
 */
export class ObjectReader implements AsyncDisposable {
  readonly #git: GitRunner;
  readonly #gitDirectory: string;
  readonly #format: ObjectFormat;
  readonly #cache = new Map<string, StoredObject>();
  #cacheBytes = 0;
  readonly #trees = new Map<ObjectId, ReadonlyMap<ByteString, TreeEntry>>();
  #process: Promise<GitProcess> | undefined;
  #waiting: Waiting[] = [];
  #received: Buffer[] = [];
  #receivedBytes = 0;
  #neededBytes = 0;
  /** The rest of an object that is too large, still to come. */
  #passedBytes = 0;

  constructor(git: GitRunner, gitDirectory: string, format: ObjectFormat) {
    this.#git = git;
    this.#gitDirectory = gitDirectory;
    this.#format = format;
  }

  /** `undefined` when there is no such object. Whole in memory: not for blobs of unknown size. */
  async read(oid: ObjectId): Promise<StoredObject | undefined> {
    return (await this.#readUpTo(oid, Number.POSITIVE_INFINITY)) as StoredObject | undefined;
  }

  /** Its entries by name. */
  async tree(oid: ObjectId): Promise<ReadonlyMap<ByteString, TreeEntry>> {
    if (oid === this.#format.emptyTree) return new Map();
    const known = this.#trees.get(oid);
    if (known) return known;
    const parsed = parseTree(this.#format, await this.#require(oid, 'tree'));
    const entries = new Map(parsed.map((entry) => [entry.name, entry]));
    this.rememberTree(oid, entries);
    return entries;
  }

  /** @param entries nobody may change them any more */
  rememberTree(oid: ObjectId, entries: ReadonlyMap<ByteString, TreeEntry>): void {
    if (entries.size > MAX_PARSED_ENTRIES) return;
    this.#trees.delete(oid);
    this.#trees.set(oid, entries);
    const [oldest] = this.#trees.keys();
    if (oldest !== undefined && this.#trees.size > MAX_PARSED_TREES) this.#trees.delete(oldest);
  }

  async commit(oid: ObjectId): Promise<Commit> {
    return parseCommit(await this.#require(oid, 'commit'));
  }

  /** Whole in memory: what an agent wrote may be a gigabyte, and is asked for by {@link blobUpTo}. */
  async blob(oid: ObjectId): Promise<Buffer> {
    return this.#require(oid, 'blob');
  }

  /** `undefined` for a larger one: no more than that is held. */
  async blobUpTo(oid: ObjectId, mostBytes: number): Promise<Buffer | undefined> {
    const object = await this.#readUpTo(oid, mostBytes);
    if (object === 'too-large') return undefined;
    return object?.type === 'blob' ? object.bytes : this.#lack(oid, 'blob');
  }

  remember(oid: ObjectId, type: StoredObject['type'], bytes: Buffer): void {
    const most = type === 'blob' ? MAX_CACHED_BLOB_BYTES : MAX_CACHED_OBJECT_BYTES;
    if (bytes.length > most || this.#cache.has(oid)) return;
    // A copy with memory of its own: a small buffer is a piece of a larger one, and would keep all of that.
    const own = Buffer.allocUnsafeSlow(bytes.length);
    own.set(bytes);
    this.#cache.set(oid, { type, bytes: own });
    this.#cacheBytes += bytes.length + 200;
    for (const [oldest, object] of this.#cache) {
      if (this.#cacheBytes <= MAX_CACHE_BYTES) break;
      this.#cache.delete(oldest);
      this.#cacheBytes -= object.bytes.length + 200;
    }
  }

  async #readUpTo(oid: ObjectId, mostBytes: number): Promise<StoredObject | 'too-large' | undefined> {
    const known = this.#cache.get(oid);
    if (known) {
      this.#cache.delete(oid);
      this.#cache.set(oid, known); // the newest is last
      return known.bytes.length > mostBytes ? 'too-large' : known;
    }
    const object = await this.#ask(oid, mostBytes);
    if (object && object !== 'too-large') this.remember(oid, object.type, object.bytes);
    return object;
  }

  async #require(oid: ObjectId, type: ObjectType): Promise<Buffer> {
    const object = await this.read(oid);
    return object?.type === type ? object.bytes : this.#lack(oid, type);
  }

  #lack(oid: ObjectId, type: ObjectType): never {
    throw new LitterboxError('STORE_CORRUPT', `The history lacks the ${type} ${oid}.`, {
      operation: 'store.read',
      hint: 'If objects of the repository were deleted, restore them: `git fetch`, or copy them from another clone.',
      facts: { object: oid },
    });
  }

  async #ask(oid: ObjectId, mostBytes: number): Promise<StoredObject | 'too-large' | undefined> {
    this.#process ??= this.#start();
    const process = await this.#process;
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) process.idle(false);
      this.#waiting.push({ mostBytes, resolve, reject });
      process.stdin.write(`${oid}\n`);
    });
  }

  async #start(): Promise<GitProcess> {
    const process = await this.#git.start({
      setting: 'sealed',
      gitDirectory: this.#gitDirectory,
      cwd: this.#gitDirectory,
      args: ['cat-file', '--batch'],
    });
    process.stdout.on('data', (chunk: Buffer) => this.#receive(process, chunk));
    const gone = (error: unknown) => {
      this.#process = undefined; // the next question starts another
      this.#received = [];
      this.#receivedBytes = this.#neededBytes = this.#passedBytes = 0;
      for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
    };
    process.ended.then(({ code, stderr }) => gone(new GitFailure(['cat-file', '--batch'], code, stderr)), gone);
    return process;
  }

  #receive(process: GitProcess, chunk: Buffer): void {
    this.#received.push(chunk);
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes < this.#neededBytes) return;
    let buffer = this.#received.length === 1 ? chunk : Buffer.concat(this.#received);
    this.#neededBytes = 0;
    for (;;) {
      const passed = Math.min(this.#passedBytes, buffer.length);
      buffer = buffer.subarray(passed);
      this.#passedBytes -= passed;
      const newline = buffer.indexOf(10);
      if (newline < 0) break;
      const [, type, sizeText] = buffer.toString('latin1', 0, newline).split(' ');
      if (type === 'missing' || sizeText === undefined) {
        buffer = buffer.subarray(newline + 1);
        this.#waiting.shift()?.resolve(undefined);
        continue;
      }
      const end = newline + 1 + Number(sizeText);
      if (Number(sizeText) > (this.#waiting[0]?.mostBytes ?? 0)) {
        this.#passedBytes = end + 1;
        this.#waiting.shift()?.resolve('too-large');
        continue;
      }
      if (buffer.length < end + 1) {
        this.#neededBytes = end + 1;
        break;
      }
      // A copy: the object may be remembered, the chunk should not be.
      const bytes = Buffer.from(buffer.subarray(newline + 1, end));
      buffer = buffer.subarray(end + 1);
      this.#waiting.shift()?.resolve({ type: type as StoredObject['type'], bytes });
    }
    this.#received = buffer.length > 0 ? [buffer] : [];
    this.#receivedBytes = buffer.length;
    if (this.#waiting.length === 0) process.idle(true);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const process = await this.#process?.catch(() => undefined);
    await process?.[Symbol.asyncDispose]();
  }
}
