import { encodeRaw } from '@litterbox/core/provider';
import type { TarEntry } from './read-tar.ts';

const BLOCK_BYTES = 512;

/** An archive with these entries, as GNU's tar makes it. */
export function writeTar(entries: readonly TarEntry[], timeSeconds = 0): Uint8Array {
  return Buffer.concat([...entries.flatMap((entry) => blocksOf(entry, timeSeconds)), Buffer.alloc(2 * BLOCK_BYTES)]);
}

function blocksOf({ path, type, isExecutable, content, target }: TarEntry, timeSeconds: number): readonly Uint8Array[] {
  const name = encodeRaw(type === 'directory' ? `${path}/` : path);
  const body = type === 'file' ? content : new Uint8Array();
  const mode = type === 'symlink' ? 0o777 : type === 'directory' || isExecutable ? 0o755 : 0o644;
  const flag = { file: '0', directory: '5', symlink: '2' }[type];
  const own = [header(name.subarray(0, 100), flag, mode, body.length, encodeRaw(target), timeSeconds), padded(body)];
  if (name.length <= 100) return own;
  const long = Buffer.concat([name, Uint8Array.of(0)]);
  return [
    header(encodeRaw('././@LongLink'), 'L', 0o644, long.length, new Uint8Array(), timeSeconds),
    padded(long),
    ...own,
  ];
}

function header(
  name: Uint8Array,
  flag: string,
  mode: number,
  sizeBytes: number,
  target: Uint8Array,
  timeSeconds: number,
): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  const put = (words: string, at: number) => block.set(encodeRaw(words), at);
  block.set(name, 0);
  put(mode.toString(8).padStart(7, '0'), 100);
  put('0000000', 108);
  put('0000000', 116);
  put(sizeBytes.toString(8).padStart(11, '0'), 124);
  put(timeSeconds.toString(8).padStart(11, '0'), 136);
  put('        ', 148);
  put(flag, 156);
  block.set(target.subarray(0, 100), 157);
  put('ustar  ', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function padded(bytes: Uint8Array): Uint8Array {
  const block = new Uint8Array(Math.ceil(bytes.length / BLOCK_BYTES) * BLOCK_BYTES);
  block.set(bytes);
  return block;
}
