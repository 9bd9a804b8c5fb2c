import { LitterboxError, type LitterboxErrorCode, advice, step } from '@litterbox/core/provider';
import { type ByteBody, ByteSource } from '../git/byte-source.ts';
import type { ByteString } from '../git/byte-text.ts';

const BLOCK_BYTES = 512;
/** A name or link target longer than Linux allows is no name. */
const MAX_NAME_BYTES = 4096;
/** Room for the records of one PAX header: a path, a link target and times. */
const MAX_PAX_BYTES = 64 * 1024;

export interface TarEntry {
  readonly type: 'file' | 'directory' | 'symlink';
  readonly name: ByteString;
  readonly linkTarget: ByteString;
  readonly sizeBytes: number;
  readonly isExecutable: boolean;
  /** The content; what is not read is skipped. */
  readonly body: ByteBody;
}

/**
 * Reads an uncompressed ustar, PAX or GNU tar stream. A reader only: it makes no files. The stream comes from hostile
 * hands, so everything that is not a plain file, directory or symbolic link ends it, and so does a missing end mark.
 * Several archives may follow one another.
 *
 * Not tar-stream: it decodes PAX names as UTF-8, which loses other bytes, goes on after the end mark, and cannot tell
 * a stream that was cut between two entries from a whole one.
 *
 * @throws LitterboxError `TAR_TRUNCATED`, `TAR_TYPE_FORBIDDEN`, `TAR_NAME_ENCODING`, `TAR_TOO_LARGE`.
 */
export async function* readTar(stream: ReadableStream<Uint8Array>): AsyncGenerator<TarEntry, void, undefined> {
  const reader = stream.getReader();
  const source = new ByteSource({ next: async () => (await reader.read()) as IteratorResult<Uint8Array> }, () =>
    fault('TAR_TRUNCATED', 'it ends before its end mark'),
  );
  try {
    for (let entry = await nextEntry(source); entry; entry = await nextEntry(source)) {
      yield entry;
      if (entry.body.hasMore) for await (const _ of entry.body); // whatever the reader left
      const padding = padded(entry.sizeBytes) - entry.sizeBytes;
      if (!source.takeNow(padding)) await source.skip(padding);
    }
  } finally {
    // What follows the end mark is padding; whoever writes it should not wait for us for ever.
    reader.cancel().catch(() => {});
  }
}

/** `undefined` after the last end mark. */
async function nextEntry(source: ByteSource): Promise<TarEntry | undefined> {
  let name: ByteString | undefined;
  let linkTarget: ByteString | undefined;
  let sizeBytes: number | undefined;
  for (;;) {
    const header = source.takeNow(BLOCK_BYTES) ?? (await source.take(BLOCK_BYTES));
    if (header.every((byte) => byte === 0)) {
      const second = await source.take(BLOCK_BYTES);
      if (second.some((byte) => byte !== 0)) throw fault('TAR_TRUNCATED', 'data follows half an end mark');
      // Another archive may follow: no header begins with a zero, and every archive ends in a mark of its own.
      if (!(await source.skipZeros())) return undefined;
      continue;
    }
    verifyChecksum(header);
    const type = String.fromCharCode(header[156] ?? 0);
    const headerSize = readNumber(header, 124, 12);
    if (type === 'L' || type === 'K' || type === 'x') {
      const limit = type === 'x' ? MAX_PAX_BYTES : MAX_NAME_BYTES + 1;
      if (headerSize > limit) throw fault('TAR_TOO_LARGE', `a name takes ${headerSize} bytes`);
      const content = await source.take(padded(headerSize));
      const text = content.toString('latin1', 0, headerSize);
      if (type === 'L') name = untilNul(text);
      else if (type === 'K') linkTarget = untilNul(text);
      else {
        const records = parsePax(text);
        name = records.get('path') ?? name;
        linkTarget = records.get('linkpath') ?? linkTarget;
        if (records.has('size')) sizeBytes = decimal(records.get('size') ?? '');
      }
      continue;
    }
    const entryType = ENTRY_TYPES[type];
    if (entryType === undefined) {
      throw fault('TAR_TYPE_FORBIDDEN', `an entry is of type ${JSON.stringify(type)}`);
    }
    const entryName = name ?? headerName(header);
    const entrySize = entryType === 'file' ? (sizeBytes ?? headerSize) : 0;
    if (entryType !== 'file' && headerSize !== 0) throw fault('TAR_TYPE_FORBIDDEN', `a ${entryType} has content`);
    checkName(entryName);
    return {
      // Before POSIX, a directory was a file whose name ended in a slash.
      type: entryName.endsWith('/') ? 'directory' : entryType,
      name: entryName.replace(/\/$/, ''),
      linkTarget: linkTarget ?? untilNul(header.toString('latin1', 157, 257)),
      sizeBytes: entrySize,
      isExecutable: (readNumber(header, 100, 8) & 0o100) !== 0,
      body: source.body(entrySize),
    };
  }
}

const ENTRY_TYPES: Readonly<Record<string, TarEntry['type']>> = {
  '0': 'file',
  '\0': 'file',
  '5': 'directory',
  '2': 'symlink',
};

function fault(code: LitterboxErrorCode, what: string): LitterboxError {
  return new LitterboxError(code, `The archive from the sandbox is refused: ${what}.`, {
    operation: 'archive.read',
    hint: ARCHIVE_HINT,
  });
}

/** What packs the archive is a program of the sandbox. */
export const ARCHIVE_HINT = advice`Look at tar in the sandbox, or rebuild the sandbox: ${step('sandbox-recover')}.`;

const padded = (sizeBytes: number) => Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;

function untilNul(text: string): string {
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}

function headerName(header: Buffer): ByteString {
  const name = untilNul(header.toString('latin1', 0, 100));
  // Only POSIX headers carry a prefix; in GNU's those bytes are times.
  if (header.toString('latin1', 257, 263) !== 'ustar\0') return name;
  const prefix = untilNul(header.toString('latin1', 345, 500));
  return prefix === '' ? name : `${prefix}/${name}`;
}

function checkName(name: ByteString): void {
  if (name === '' || name.includes('\0')) throw fault('TAR_NAME_ENCODING', 'a name is empty or holds a NUL');
  if (name.length > MAX_NAME_BYTES) throw fault('TAR_TOO_LARGE', 'a name is too long');
  if (name.startsWith('/')) throw fault('TAR_ABSOLUTE', 'a name is absolute');
  const components = name.replace(/\/$/, '').split('/');
  if (components.some((component) => component === '' || component === '.' || component === '..')) {
    throw fault('TAR_PATH_ESCAPE', 'a name has an empty or dotted component');
  }
}

function verifyChecksum(header: Buffer): void {
  let sum = 8 * 32;
  for (let at = 0; at < BLOCK_BYTES; at++) if (at < 148 || at >= 156) sum += header[at] ?? 0;
  if (sum !== readNumber(header, 148, 8)) throw fault('TAR_TRUNCATED', 'a header is damaged');
}

/** Octal digits, or base 256 when the first bit is set. */
function readNumber(header: Buffer, at: number, length: number): number {
  const first = header[at] ?? 0;
  if (first & 0x80) {
    let value = first & 0x7f;
    for (let index = at + 1; index < at + length; index++) value = value * 256 + (header[index] ?? 0);
    return checkedSize(value);
  }
  const text = untilNul(header.toString('latin1', at, at + length)).trim();
  if (!/^[0-7]*$/.test(text)) throw fault('TAR_TRUNCATED', 'a number in a header is damaged');
  return checkedSize(text === '' ? 0 : Number.parseInt(text, 8));
}

function decimal(text: string): number {
  if (!/^\d{1,16}$/.test(text)) throw fault('TAR_TRUNCATED', 'a size is no number');
  return checkedSize(Number(text));
}

function checkedSize(value: number): number {
  if (!Number.isSafeInteger(value)) throw fault('TAR_TOO_LARGE', 'a size is out of range');
  return value;
}

/** `length key=value\n`, the length counting itself. */
function parsePax(text: ByteString): Map<string, ByteString> {
  const records = new Map<string, ByteString>();
  for (let at = 0; at < text.length; ) {
    const space = text.indexOf(' ', at);
    const length = space < 0 ? 0 : decimal(text.slice(at, space));
    const record = text.slice(space + 1, at + length - 1);
    const equals = record.indexOf('=');
    if (at + length > text.length || text[at + length - 1] !== '\n' || equals < 1) {
      throw fault('TAR_TRUNCATED', 'an extended header is damaged');
    }
    const value = record.slice(equals + 1);
    if (value.includes('\0')) throw fault('TAR_NAME_ENCODING', 'an extended header holds a NUL');
    records.set(record.slice(0, equals), value);
    at += length;
  }
  return records;
}
