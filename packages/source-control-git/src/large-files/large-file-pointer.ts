/** What stands in a tree for a file that Git LFS keeps elsewhere. */
export interface LargeFilePointer {
  /** Of the content, in hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A pointer is smaller, and what is not is content (git-lfs, docs/spec.md). */
export const MAX_POINTER_BYTES = 1024;
const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize (0|[1-9][0-9]{0,15})\n$/;

/** Undefined for what is no pointer, or one with extensions, whose programs would have to run. */
export function parseLargeFilePointer(bytes: Uint8Array): LargeFilePointer | undefined {
  if (bytes.length >= MAX_POINTER_BYTES) return undefined;
  const [, sha256, size] = POINTER.exec(Buffer.from(bytes).toString('latin1')) ?? [];
  return sha256 === undefined ? undefined : { sha256, sizeBytes: Number(size) };
}

/** For how many bytes a pointer of whatever version stands, told as loosely as git-lfs tells it. Undefined for what is no pointer. */
export function largeFileBytes(bytes: Uint8Array): number | undefined {
  if (bytes.length >= MAX_POINTER_BYTES) return undefined;
  const text = Buffer.from(bytes).toString('latin1');
  if (!/^\s*version [^\n]*(?:git-lfs|git-media|hawser)/.test(text)) return undefined;
  return Number(/^size ([0-9]{1,16})\s*$/m.exec(text)?.[1] ?? 0);
}

export function serializeLargeFilePointer({ sha256, sizeBytes }: LargeFilePointer): Buffer {
  return Buffer.from(`version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${sizeBytes}\n`);
}
