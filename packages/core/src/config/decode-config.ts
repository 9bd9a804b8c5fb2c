import { LitterboxError } from '../domain/errors/errors.ts';

const MAX_BYTES = 256 * 1024;

/**
 * The text of the file: UTF-8, a byte order mark at the start allowed.
 *
 * @throws LitterboxError `CONFIG_TOO_LARGE`, `CONFIG_ENCODING`.
 */
export function decodeConfig(content: Uint8Array | string, place: string): string {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  if (bytes.length > MAX_BYTES) {
    throw new LitterboxError('CONFIG_TOO_LARGE', `${place} has ${bytes.length} bytes, at most ${MAX_BYTES} are read.`, {
      operation: 'config.parse',
      hint: 'Move everything that is not configuration into other files.',
    });
  }
  const bad = badByte(bytes) ?? (typeof content === 'string' && !content.isWellFormed() ? 0 : undefined);
  if (bad !== undefined) {
    const got = bytes[bad] === 0 ? `byte ${bad} is NUL` : `byte ${bad} is not UTF-8`;
    throw new LitterboxError('CONFIG_ENCODING', `${place}: ${got}, the file must be text in UTF-8.`, {
      operation: 'config.parse',
      hint: 'Save it as UTF-8 without NUL characters.',
      facts: { byte: bad },
    });
  }
  return new TextDecoder().decode(bytes); // without the byte order mark
}

/** Index of the first byte that is NUL or not part of UTF-8. */
function badByte(bytes: Uint8Array): number | undefined {
  const nul = bytes.indexOf(0);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    decoder.decode(bytes);
    return nul === -1 ? undefined : nul;
  } catch {
    // Halve until the longest beginning is found that may still become UTF-8.
    let [good, failing] = [0, bytes.length];
    while (failing - good > 1) {
      const middle = (good + failing) >> 1;
      if (isText(bytes.subarray(0, middle))) good = middle;
      else failing = middle;
    }
    // Up to three bytes of the character that is not one may have looked good.
    let start = good;
    while (start > 0 && (bytes[start - 1] ?? 0) >= 0x80 && !isWhole(bytes.subarray(0, start))) start -= 1;
    return nul === -1 ? start : Math.min(nul, start);
  }
}

function isWhole(bytes: Uint8Array): boolean {
  return isText(bytes, false);
}

/** Whether it is UTF-8; `stream` allows a cut in the middle of the last character. */
function isText(bytes: Uint8Array, stream = true): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream });
    return true;
  } catch {
    return false;
  }
}
