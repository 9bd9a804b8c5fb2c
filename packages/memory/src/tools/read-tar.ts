import { decodeRaw, LitterboxError, type LitterboxErrorCode } from '@litterbox/core/provider';

/** What an archive says of one path. */
export interface TarEntry {
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink';
  readonly isExecutable: boolean;
  /** Of a file. */
  readonly content: Uint8Array;
  /** Of a link. */
  readonly target: string;
}

const BLOCK_BYTES = 512;
const TYPES: Readonly<Record<string, TarEntry['type']>> = {
  '0': 'file',
  '\0': 'file',
  '5': 'directory',
  '2': 'symlink',
};

/**
 * Reads archives, one after another in one piece: ustar, and GNU's long names. As the port wants it of whoever reads what comes out of a
 * sandbox, all else is refused: other types, paths that lead elsewhere, wrong sums, an archive without its end.
 */
export function readTar(bytes: Uint8Array): readonly TarEntry[] {
  const entries: TarEntry[] = [];
  let longName: string | undefined;
  let isEnded = false;
  for (let at = 0; at < bytes.length; ) {
    const header = take(bytes, at, BLOCK_BYTES);
    at += BLOCK_BYTES;
    isEnded = header.every((byte) => byte === 0);
    if (isEnded) continue;
    assertSum(header);
    const sizeBytes = sizeOf(header);
    const type = String.fromCharCode(header[156] ?? 0);
    const body = take(bytes, at, sizeBytes);
    at += Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
    if (type === 'L') {
      longName = text(body, 0, body.length);
      continue;
    }
    const known = TYPES[type];
    if (!known) throw refuse('TAR_TYPE_FORBIDDEN', `it holds an entry of the type ${JSON.stringify(type)}`);
    const path = (longName ?? nameOf(header)).replace(/^\.\//, '').replace(/\/$/, '');
    longName = undefined;
    assertInside(path);
    const isExecutable = (Number.parseInt(text(header, 100, 8), 8) & 0o100) !== 0;
    entries.push({ path, type: known, isExecutable, content: body, target: text(header, 157, 100) });
  }
  if (!isEnded && bytes.length > 0) throw refuse('TAR_TRUNCATED', 'it ends before its end mark');
  return entries;
}

function nameOf(header: Uint8Array): string {
  const name = text(header, 0, 100);
  const prefix = text(header, 257, 6) === 'ustar' ? text(header, 345, 155) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function assertInside(path: string): void {
  if (path.startsWith('/')) throw refuse('TAR_ABSOLUTE', 'it holds an absolute path');
  if (path.split('/').includes('..')) throw refuse('TAR_PATH_ESCAPE', 'a path in it leads outside');
}

function assertSum(header: Uint8Array): void {
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0);
  if (Number.parseInt(text(header, 148, 8).trim(), 8) !== sum) throw refuse('TAR_TRUNCATED', 'a sum in it is wrong');
}

function sizeOf(header: Uint8Array): number {
  const digits = text(header, 124, 12).trim();
  if (!/^[0-7]+$/.test(digits)) throw refuse('TAR_TOO_LARGE', 'a size in it is no number');
  return Number.parseInt(digits, 8);
}

/** Up to the first NUL. */
function text(bytes: Uint8Array, at: number, length: number): string {
  const field = bytes.subarray(at, at + length);
  const end = field.indexOf(0);
  return decodeRaw(end === -1 ? field : field.subarray(0, end));
}

function take(bytes: Uint8Array, at: number, length: number): Uint8Array {
  if (at + length > bytes.length) throw refuse('TAR_TRUNCATED', 'it ends within an entry');
  return bytes.subarray(at, at + length);
}

function refuse(code: LitterboxErrorCode, reason: string): LitterboxError {
  return new LitterboxError(code, `The archive cannot be read: ${reason}.`, { operation: 'tar.read' });
}
