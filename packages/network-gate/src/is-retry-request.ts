const ALERT = 21;
const CHANGE_CIPHER_SPEC = 20;
const HANDSHAKE = 22;
const SERVER_HELLO = 2;
/** Up to the end of its random: type, length and version before it. */
const HEAD_BYTES = 1 + 3 + 2 + 32;
/** A server that has not said it by then is none of TLS. */
const MAX_BYTES = 64 * 1024;
/** The random of a HelloRetryRequest: the SHA-256 of its name. */
const RETRY_RANDOM = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex');

/**
 * Whether the first message that a server sends asks its client for a second hello; nothing when more bytes are needed to know.
 * What is no TLS asks for none.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8446#section-4.1.4
 */
export function isRetryRequest(bytes: Buffer): boolean | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const type = bytes[at];
    if (type !== HANDSHAKE && type !== ALERT && type !== CHANGE_CIPHER_SPEC) return false;
    if (at + 5 > bytes.length) break;
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    if (type === HANDSHAKE) parts.push(bytes.subarray(at + 5, end));
    at = end;
  }
  const message = Buffer.concat(parts);
  if (message.length > 0 && message[0] !== SERVER_HELLO) return false;
  if (message.length >= HEAD_BYTES) return message.subarray(HEAD_BYTES - 32, HEAD_BYTES).equals(RETRY_RANDOM);
  return bytes.length > MAX_BYTES ? false : undefined;
}
