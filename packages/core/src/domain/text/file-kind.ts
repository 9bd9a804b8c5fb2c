/** What the first bytes of a file say that it is. */
export interface FileKind {
  readonly name: string;
  /** Text all the same, in an encoding that is not read here. */
  readonly isText?: boolean;
  /** Of a picture that a model can be shown. */
  readonly imageType?: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
}

/** Bytes as characters; a dot stands for any one. */
const KINDS: readonly (readonly [start: RegExp, kind: FileKind])[] = [
  [/^\x89PNG\r\n\x1a\n/, { name: 'a PNG image', imageType: 'image/png' }],
  [/^\xff\xd8\xff/, { name: 'a JPEG image', imageType: 'image/jpeg' }],
  [/^GIF8[79]a/, { name: 'a GIF image', imageType: 'image/gif' }],
  [/^RIFF....WEBP/s, { name: 'a WebP image', imageType: 'image/webp' }],
  [/^%PDF-/, { name: 'a PDF document' }],
  [/^PK\x03\x04/, { name: 'a ZIP archive' }],
  [/^\x1f\x8b/, { name: 'gzip data' }],
  [/^\xfd7zXZ/, { name: 'xz data' }],
  [/^\x28\xb5\x2f\xfd/, { name: 'zstd data' }],
  [/^\x7fELF/, { name: 'an ELF program' }],
  [/^\0asm/, { name: 'a WebAssembly module' }],
  [/^SQLite format 3\0/, { name: 'an SQLite database' }],
  [/^(?:\xff\xfe|\xfe\xff)/, { name: 'text in UTF-16', isText: true }],
];
const LOOKED_AT_BYTES = 16;

/** Undefined when it is none that is known. */
export function fileKind(file: Uint8Array): FileKind | undefined {
  const start = String.fromCharCode(...file.subarray(0, LOOKED_AT_BYTES));
  return KINDS.find(([pattern]) => pattern.test(start))?.[1];
}
