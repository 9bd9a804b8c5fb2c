import type { FileChange, ObjectId } from '@litterbox/core/provider';
import { type ByteString, toByteString } from '../git/byte-text.ts';
import { largeFileBytes, parseLargeFilePointer } from '../large-files/large-file-pointer.ts';
import type { LargeFileContent } from '../large-files/checked-in-trees.ts';
import { readBlobs } from '../store/read-blobs.ts';
import { readBlobSizes } from '../store/read-blob-sizes.ts';
import type { PathStep } from '../store/read-diff.ts';
import { HUGE_BYTES } from './risky-changes.ts';
import type { Store } from '../store/store.ts';

/** Links are smaller, and so are pointers of Git LFS. */
const SMALL_BYTES = 4096;
/** How much git looks at to tell whether a file is binary. */
const BINARY_LOOK_BYTES = 8000;

/** What a pointer of Git LFS stands for. */
export interface LargeFile {
  readonly sizeBytes: number;
  /** Absent where somebody wrote the pointer itself: nobody here has seen what git-lfs would fetch for it. */
  readonly content?: { readonly blob: ObjectId; readonly isBinary: boolean };
}

/** What is known of the blobs that steps write. */
export interface WrittenFiles {
  /** In bytes, of those alone that are larger than {@link SMALL_BYTES}. */
  readonly sizes: ReadonlyMap<ObjectId, number>;
  /** By their pointers. */
  readonly largeFiles: ReadonlyMap<ObjectId, LargeFile>;
}

/** @param contents those that the history of the sandbox has */
export async function readWritten(
  store: Store,
  steps: readonly PathStep[],
  contents: Iterable<LargeFileContent>,
  signal: AbortSignal | undefined,
): Promise<WrittenFiles> {
  const oids = steps.flatMap((step) => (step.new && step.new.mode !== '160000' ? [step.new.oid] : []));
  const sizes = new Map<ObjectId, number>();
  for await (const [oid, size] of readBlobSizes(store, oids, signal)) if (size > SMALL_BYTES) sizes.set(oid, size);
  const small = steps.flatMap(({ old, new: next }) =>
    next?.mode.startsWith('100') && next.oid !== old?.oid && !sizes.has(next.oid) ? [next.oid] : [],
  );
  const known = new Map([...contents].map((content) => [content.sha256, content]));
  const found = new Map<ObjectId, { readonly sizeBytes: number; readonly blob?: ObjectId }>();
  for await (const { oid, bytes } of readBlobs(store, [...new Set(small)], signal)) {
    const sizeBytes = largeFileBytes(bytes);
    if (sizeBytes === undefined) continue;
    const content = known.get(parseLargeFilePointer(bytes)?.sha256 ?? '');
    found.set(oid, content?.sizeBytes === sizeBytes ? { sizeBytes, blob: content.blob } : { sizeBytes });
  }
  const isBinary = await binaries(store, [...found.values()], signal);
  const largeFiles = [...found].map(([oid, { sizeBytes, blob }]): [ObjectId, LargeFile] => [
    oid,
    { sizeBytes, ...(blob && { content: { blob, isBinary: isBinary(blob) } }) },
  ]);
  return { sizes, largeFiles: new Map(largeFiles) };
}

/** The changes as a person is told of them: of a file of Git LFS the lines of its pointer say nothing. */
export function withLargeFiles(
  changes: readonly FileChange[],
  steps: readonly PathStep[],
  { largeFiles }: WrittenFiles,
): readonly FileChange[] {
  if (largeFiles.size === 0) return changes;
  const written = new Map<ByteString, LargeFile>();
  for (const { path, old, new: next } of steps) {
    const large = next && next.oid !== old?.oid ? largeFiles.get(next.oid) : undefined;
    if (large) written.set(path, large);
  }
  return changes.map((change) => {
    const large = written.get(toByteString(change.path));
    if (!large) return change;
    const { addedLines: _added, removedLines: _removed, ...rest } = change;
    return { ...rest, binary: large.content?.isBinary ?? false, largeFileBytes: large.sizeBytes };
  });
}

/** As git tells it: by a NUL in the beginning. Large contents are not read to their end. */
async function binaries(
  store: Store,
  files: readonly { readonly sizeBytes: number; readonly blob?: ObjectId }[],
  signal: AbortSignal | undefined,
): Promise<(blob: ObjectId) => boolean> {
  const found = new Set<ObjectId>();
  const look = (blob: ObjectId, bytes: Uint8Array) => {
    if (bytes.subarray(0, BINARY_LOOK_BYTES).includes(0)) found.add(blob);
  };
  const blobs = new Map(files.flatMap(({ blob, sizeBytes }) => (blob ? [[blob, sizeBytes] as const] : [])));
  const whole = [...blobs].filter(([, size]) => size <= HUGE_BYTES).map(([blob]) => blob);
  for await (const { oid, bytes } of readBlobs(store, whole, signal)) look(oid, bytes);
  for (const [blob, size] of blobs) {
    if (size <= HUGE_BYTES) continue;
    for await (const bytes of store.stream(['cat-file', 'blob', blob], { signal })) {
      look(blob, bytes);
      break;
    }
  }
  return (blob) => found.has(blob);
}
