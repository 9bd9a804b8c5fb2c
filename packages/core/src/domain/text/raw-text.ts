/**
 * File names on Linux are bytes. Litterbox carries them as text in which a byte that is not part of valid UTF-8
 * stands as the lone surrogate U+DC00 + byte (0x80 to 0xFF), as Python's `surrogateescape` does (PEP 383).
 * The two functions are exact inverses for every byte string.
 */

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** How many bytes a valid UTF-8 sequence starting at `index` has, or 0 when there is none. */
function sequenceLength(bytes: Uint8Array, index: number): number {
  const first = bytes[index] ?? 0;
  const length =
    first < 0x80
      ? 1
      : first >= 0xc2 && first < 0xe0
        ? 2
        : first >= 0xe0 && first < 0xf0
          ? 3
          : first >= 0xf0 && first < 0xf5
            ? 4
            : 0;
  if (length < 2) return length;
  try {
    strict.decode(bytes.subarray(index, index + length));
    return index + length <= bytes.length ? length : 0;
  } catch {
    return 0; // not UTF-8: the caller escapes this byte
  }
}

/** Bytes to text. Never fails. */
export function decodeRaw(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    let text = '';
    for (let index = 0; index < bytes.length; ) {
      const length = sequenceLength(bytes, index);
      if (length === 0) text += String.fromCharCode(0xdc00 + (bytes[index++] ?? 0));
      else text += strict.decode(bytes.subarray(index, (index += length)));
    }
    return text;
  }
}

/** Text to bytes. A lone surrogate outside U+DC80..U+DCFF becomes U+FFFD, as everywhere on the web. */
export function encodeRaw(text: string): Uint8Array<ArrayBuffer> {
  if (text.isWellFormed()) return encoder.encode(text);
  const parts: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xdc80 && code <= 0xdcff) parts.push(code - 0xdc00);
    else for (const byte of encoder.encode(character)) parts.push(byte);
  }
  return Uint8Array.from(parts);
}
