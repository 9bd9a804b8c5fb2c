/** The most bytes of one stored block (RFC 1951, 3.2.4). */
export const MAX_STORED_BYTES = 0xffff;

/**
 * A zlib stream (RFC 1950) that holds the bytes as they are, in one stored block: what a few kilobytes are worth that are packed
 * soon anyway. Setting up a compressor takes far longer than writing them.
 *
 * @param bytes at most {@link MAX_STORED_BYTES}
 */
export function storedZlib(bytes: Uint8Array): Buffer {
  const { length } = bytes;
  const stream = Buffer.allocUnsafe(length + 11);
  stream.writeUInt16BE(0x7801, 0);
  stream[2] = 1; // the last block, stored
  stream.writeUInt16LE(length, 3);
  stream.writeUInt16LE(~length & 0xffff, 5);
  stream.set(bytes, 7);
  stream.writeUInt32BE(adler32(bytes), length + 7);
  return stream;
}

/** Sums stay below 2^53 between two remainders: each step adds less than 2^16 to one and less than 2^25 to the other. */
function adler32(bytes: Uint8Array): number {
  let low = 1;
  let high = 0;
  for (const byte of bytes) {
    low += byte;
    high += low;
  }
  return ((high % 65521) * 65536 + (low % 65521)) >>> 0;
}
