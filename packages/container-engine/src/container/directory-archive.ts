import { encodeRaw } from '@litterbox/core/provider';

const BLOCK_BYTES = 512;

/**
 * A tar archive of empty directories with one owner and mode 0755, as engines take it (ustar, pax(1) of POSIX.1-2017).
 *
 * @param paths relative, at most 100 bytes each: longer ones are left out
 */
export function directoryArchive(
  paths: readonly string[],
  { uid, gid }: { readonly uid: number; readonly gid: number },
): Uint8Array {
  const fitting = paths.map((path) => encodeRaw(`${path}/`)).filter((name) => name.length <= 100);
  const archive = new Uint8Array((fitting.length + 2) * BLOCK_BYTES);
  const octal = (value: number, digits: number) => encodeRaw(`${value.toString(8).padStart(digits, '0')}\0`);
  for (const [index, name] of fitting.entries()) {
    const header = archive.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES);
    header.set(name, 0);
    header.set(octal(0o755, 7), 100);
    header.set(octal(uid, 7), 108);
    header.set(octal(gid, 7), 116);
    header.set(octal(0, 11), 124);
    header.set(octal(0, 11), 136);
    header.set(encodeRaw('        5'), 148);
    header.set(encodeRaw('ustar\u000000'), 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.set(encodeRaw(`${sum.toString(8).padStart(6, '0')}\0 `), 148);
  }
  return archive;
}
