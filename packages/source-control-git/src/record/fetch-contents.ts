import {
  type CallOptions,
  LitterboxError,
  type ObjectId,
  type RecordRequest,
  type SecretBytes,
  secretIn,
} from '@litterbox/core/provider';
import { type ByteString, bytesOf, fromByteString } from '../git/byte-text.ts';
import { hashObject } from '../objects/object-format.ts';
import { MAX_WHOLE_BYTES, type ObjectSink } from '../objects/object-sink.ts';
import { isSpecialName } from '../objects/path-rules.ts';
import type { Store } from '../store/store.ts';
import { ARCHIVE_HINT, readTar } from '../objects/tar-reader.ts';
import type { TreeMode } from '../objects/tree-object.ts';
import { HoldsSecret, searchedBody } from './searched-body.ts';

const OPERATION = 'revision.record';
/** One file, in bytes. Larger ones are not for a history of source code. */
export const MAX_FILE_BYTES = 1024 ** 3;
/** All of one call, in bytes. */
const MAX_TOTAL_BYTES = 8 * 1024 ** 3;
/** Linux PATH_MAX: no link on a disk is longer. */
const MAX_LINK_BYTES = 4096;

export interface Wanted {
  readonly executable: boolean;
  /** What the tip has there: the same content is not written again. */
  readonly known: ObjectId | undefined;
}

export interface Fetched {
  readonly mode: TreeMode;
  readonly oid: ObjectId;
  readonly sizeBytes: number;
  /** Of rules, which are read before anything is readable in the store. */
  readonly text?: Buffer;
}

/** Where contents come from. */
export interface ContentSources {
  /** What came with the scan. */
  readonly scanned: ReadonlyMap<ByteString, Uint8Array>;
  readonly archive: RecordRequest['contents'];
  /** No content that holds one of them goes into the sink. */
  readonly secrets: readonly SecretBytes[];
}

/** Told what of the wanted is left out. */
export interface LeftOut {
  special(path: ByteString): void;
  holdsSecret(path: ByteString, secret: string): void;
}

/**
 * Takes the wanted contents that did not come with the scan out of the stream that the sandbox makes, and all into the sink. A path that is not in it, or is a
 * directory by now, is not in the result; the next scan reports it.
 *
 * @throws LitterboxError `TAR_*` for anything that was not asked for.
 */
export async function fetchContents(
  store: Store,
  sink: ObjectSink,
  { scanned, archive, secrets }: ContentSources,
  wanted: ReadonlyMap<ByteString, Wanted>,
  leftOut: LeftOut,
  options: CallOptions | undefined,
): Promise<ReadonlyMap<ByteString, Fetched>> {
  const found = new Map<ByteString, Fetched>();
  if (wanted.size === 0) return found;
  const seen = new Set<ByteString>();
  let totalBytes = 0;
  const put = (name: ByteString, mode: TreeMode, bytes: Buffer, known: ObjectId | undefined) => {
    const oid = hashObject(store.format, 'blob', bytes);
    const secret = oid === known ? undefined : secretIn(bytes, secrets);
    if (secret !== undefined) return leftOut.holdsSecret(name, secret);
    if (oid !== known) sink.put('blob', bytes, oid);
    const text = mode !== '120000' && isRule(name) ? { text: bytes } : {};
    found.set(name, { mode, oid, sizeBytes: bytes.length, ...text });
  };
  const modeOf = ({ executable }: Wanted) => (executable ? '100755' : '100644');
  const missing = new Map(wanted);
  for (const [name, want] of wanted) {
    const bytes = scanned.get(name);
    if (!bytes) continue;
    put(name, modeOf(want), Buffer.from(bytes), want.known);
    missing.delete(name);
  }
  if (missing.size === 0) return found;
  for await (const entry of readTar(archive(names(missing), options))) {
    options?.signal?.throwIfAborted();
    const { name, type, sizeBytes } = entry;
    const want = missing.get(name);
    if (!want) throw fault('TAR_PATH_ESCAPE', 'it holds a name that Litterbox did not ask for');
    if (seen.has(name)) throw fault('TAR_DUPLICATE', 'it holds a name twice');
    seen.add(name);
    totalBytes += sizeBytes;
    if (sizeBytes > MAX_FILE_BYTES || totalBytes > MAX_TOTAL_BYTES) {
      throw fault('TAR_TOO_LARGE', `${sizeBytes} bytes in a file, ${totalBytes} in all`);
    }
    if (type === 'directory') continue;
    if (type === 'symlink') {
      const target = bytesOf(entry.linkTarget);
      if (target.length === 0 || target.length > MAX_LINK_BYTES) {
        throw fault('TAR_NAME_ENCODING', 'a symbolic link has no target that Linux allows');
      }
      if (isSpecialName(name.slice(name.lastIndexOf('/') + 1))) leftOut.special(name);
      else put(name, '120000', target, want.known);
      continue;
    }
    if (sizeBytes > MAX_WHOLE_BYTES) {
      const body = secrets.length === 0 ? entry.body : searchedBody(entry.body, secrets);
      try {
        found.set(name, { mode: modeOf(want), oid: await sink.stream(sizeBytes, body), sizeBytes });
      } catch (error) {
        if (!(error instanceof HoldsSecret)) throw error;
        leftOut.holdsSecret(name, error.secret);
      }
      continue;
    }
    const chunks: Uint8Array[] = [];
    for await (const chunk of entry.body) chunks.push(chunk);
    const bytes = chunks.length === 1 ? Buffer.from(chunks[0] as Buffer) : Buffer.concat(chunks);
    put(name, modeOf(want), bytes, want.known);
  }
  return found;
}

export const isRule = (path: ByteString): boolean => path === '.gitignore' || path.endsWith('/.gitignore');

async function* names(wanted: ReadonlyMap<ByteString, Wanted>): AsyncGenerator<string, void, undefined> {
  for (const path of wanted.keys()) yield fromByteString(path);
}

function fault(code: 'TAR_PATH_ESCAPE' | 'TAR_DUPLICATE' | 'TAR_TOO_LARGE' | 'TAR_NAME_ENCODING', what: string) {
  return new LitterboxError(code, `The archive from the sandbox is refused: ${what}.`, {
    operation: OPERATION,
    hint: ARCHIVE_HINT,
  });
}
