import { decodeRaw, encodeRaw } from '@litterbox/core/provider';

/**
 * Git's names are bytes. Inside this package they are byte strings: one character from U+0000 to U+00FF per byte, so
 * that comparing two of them orders as git orders. Most names are ASCII, which is the same text either way.
 */
export type ByteString = string;

// eslint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/;

/** From text as in core's `raw-text.ts`. */
export function toByteString(text: string): ByteString {
  return ASCII.test(text) ? text : Buffer.from(encodeRaw(text)).toString('latin1');
}

export function fromByteString(bytes: ByteString): string {
  return ASCII.test(bytes) ? bytes : decodeRaw(Buffer.from(bytes, 'latin1'));
}

export function bytesOf(bytes: ByteString): Buffer {
  return Buffer.from(bytes, 'latin1');
}
