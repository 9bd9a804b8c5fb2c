const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** No message of the protocol, and no input of a tool, has a fraction of it. */
export const MAX_DEPTH = 64;

/**
 * Whether objects and arrays stand in each other deeper than {@link MAX_DEPTH}. Looked at before a text is parsed: each level costs a
 * parser many times its two bytes.
 *
 * @param bytes JSON in UTF-8; of what is no JSON the answer means nothing
 */
export function isTooDeep(bytes: Uint8Array): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    else if (byte === QUOTE) {
      at = endOfString(bytes, at + 1);
      if (at < 0) return false; // not closed: no JSON
    }
  }
  return false;
}

/** Where the quote is that closes a string; -1 where none does. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let end = bytes.indexOf(QUOTE, from); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let backslashes = 0;
    while (end - 1 - backslashes >= from && bytes[end - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}
