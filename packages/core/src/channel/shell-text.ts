import { encodeRaw } from '../domain/text/raw-text.ts';

/** One word for a POSIX shell: the text verbatim, whatever it holds (but NUL, which no argument can). */
export function quoted(text: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Bytes as the format of the shell's builtin `printf`: the one binary-safe way into a command without a fork.
 * At most four characters a byte.
 */
export function printfFormat(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    const isOption = text === '' && byte === 0x2d; // a format that begins with a dash would be taken for an option
    const isPlain =
      !isOption && ((byte >= 0x20 && byte < 0x7f && byte !== 0x5c && byte !== 0x25) || byte === 0x0a || byte === 0x09);
    if (isPlain) text += String.fromCharCode(byte);
    else if (byte === 0x25) text += '%%';
    else text += `\\${byte.toString(8).padStart(3, '0')}`; // three digits: a digit may follow
  }
  return text;
}

/** The bytes of a script that may hold raw file names. */
export function scriptBytes(script: string): Uint8Array {
  return encodeRaw(script);
}
