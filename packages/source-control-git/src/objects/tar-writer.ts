import type { ByteString } from '../git/byte-text.ts';

const BLOCK_BYTES = 512;
/** 2000-01-01: one time for all, since a tree has none; zip programs refuse years before 1980. */
export const TIME_SECONDS = 946_684_800;

const NANOSECONDS = 1_000_000_000n;

export const TAR_END = Buffer.alloc(2 * BLOCK_BYTES);

export interface TarHeader {
  /** `whiteout`: a character device without a number, by which a layer says that a name below it is gone. */
  readonly type: 'file' | 'directory' | 'symlink' | 'whiteout';
  readonly name: ByteString;
  readonly mode: number;
  readonly sizeBytes?: number;
  readonly linkTarget?: ByteString;
  /** Since 1970. @defaultValue {@link TIME_SECONDS} */
  readonly timeSeconds?: number;
}

/** @see https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06 */
const TYPE_FLAGS = { file: '0', symlink: '2', whiteout: '3', directory: '5' } as const;

/**
 * The header of an entry, with GNU long-name entries before it where ustar has no room. Those, unlike PAX records,
 * hold any bytes, and busybox reads them.
 */
export function tarHeader({ type, name, mode, sizeBytes = 0, linkTarget = '', timeSeconds }: TarHeader): Buffer {
  const fullName = type === 'directory' ? `${name}/` : name;
  const split = splitName(fullName);
  const parts: Buffer[] = [];
  if (linkTarget.length > 100) parts.push(longEntry('K', linkTarget));
  if (!split) parts.push(longEntry('L', fullName));
  const isPosix = parts.length === 0;
  parts.push(
    block({
      name: isPosix && split ? split.name : fullName.slice(0, 100),
      prefix: isPosix && split ? split.prefix : '',
      typeFlag: TYPE_FLAGS[type],
      mode,
      sizeBytes,
      linkTarget: linkTarget.slice(0, 100),
      timeSeconds,
      isPosix,
    }),
  );
  if (!isPosix && split && fullName.length > 100) parts.splice(0, 0, longEntry('L', fullName));
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

/**
 * An entry of PAX that gives the next one its time, for its header has whole seconds alone. Names are as before: a program that knows no PAX
 * takes the time in the header.
 *
 * @param time in nanoseconds since 1970
 */
export function timeRecord(time: bigint): Buffer {
  const fraction = String(time % NANOSECONDS).padStart(9, '0');
  const text = ` mtime=${time / NANOSECONDS}.${fraction}\n`;
  const length = [text.length + 1, text.length + 2].find((size) => String(size).length + text.length === size);
  const content = Buffer.from(`${length}${text}`, 'latin1');
  const head = block({
    name: './PaxHeaders/time',
    prefix: '',
    typeFlag: 'x',
    mode: 0o644,
    sizeBytes: content.length,
    linkTarget: '',
    isPosix: true,
  });
  return Buffer.concat([head, content, tarPadding(content.length)]);
}

/** The first whole second that is not before a time in nanoseconds. */
export function secondsAbove(time: bigint): number {
  return Number((time + NANOSECONDS - 1n) / NANOSECONDS);
}

export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES);
}

/** Up to 100 bytes, or up to 155 more before a slash. */
function splitName(name: ByteString): { readonly name: string; readonly prefix: string } | undefined {
  if (name.length <= 100) return { name, prefix: '' };
  const slash = name.indexOf('/', name.length - 101);
  if (slash < 1 || slash > 155 || slash === name.length - 1) return undefined;
  return { prefix: name.slice(0, slash), name: name.slice(slash + 1) };
}

function longEntry(typeFlag: 'L' | 'K', text: ByteString): Buffer {
  const content = Buffer.from(`${text}\0`, 'latin1');
  const head = block({
    name: '././@LongLink',
    prefix: '',
    typeFlag,
    mode: 0o644,
    sizeBytes: content.length,
    linkTarget: '',
    isPosix: false,
  });
  return Buffer.concat([head, content, tarPadding(content.length)]);
}

function block(fields: {
  readonly name: ByteString;
  readonly prefix: ByteString;
  readonly typeFlag: string;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly linkTarget: ByteString;
  readonly timeSeconds?: number | undefined;
  readonly isPosix: boolean;
}): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, digits: number) =>
    header.write(`${value.toString(8).padStart(digits, '0')}\0`, at, 'latin1');
  header.write(fields.name, 0, 100, 'latin1');
  octal(fields.mode, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  if (fields.sizeBytes < 8 ** 11) octal(fields.sizeBytes, 124, 11);
  else {
    header[124] = 0x80;
    header.writeBigUInt64BE(BigInt(fields.sizeBytes), 128);
  }
  octal(fields.timeSeconds ?? TIME_SECONDS, 136, 11);
  header.write('        ', 148, 'latin1');
  header.write(fields.typeFlag, 156, 'latin1');
  header.write(fields.linkTarget, 157, 100, 'latin1');
  header.write(fields.isPosix ? 'ustar\x0000' : 'ustar  \0', 257, 'latin1');
  if (fields.isPosix) {
    octal(0, 329, 7);
    octal(0, 337, 7);
    header.write(fields.prefix, 345, 155, 'latin1');
  }
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}
