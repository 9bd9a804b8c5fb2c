/** What is known of the first bytes that a client sends. */
export type HelloState =
  /** So many bytes are needed at least, from the first on. */
  | { readonly type: 'incomplete'; readonly wantedBytes: number }
  | { readonly type: 'refused'; readonly reason: string }
  | {
      readonly type: 'hello';
      /** In lower case. */
      readonly serverName: string;
      /** How long it is with all its records: what follows is not looked at. */
      readonly byteLength: number;
    };

/** Longest hello, in bytes as they arrive. Those of today have 2,000 at most. */
export const MAX_HELLO_BYTES = 16 * 1024;
/** Clients send one record, two where the hello is long. */
const MAX_RECORDS = 64;

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const PROTOCOLS = 16;
const ENCRYPTED_HELLO = 0xfe0d;
/** What HTTPS speaks. Others make a tunnel for names or mail of the connection. */
const ALLOWED_PROTOCOLS = new Set(['h2', 'http/1.1', 'http/1.0']);

/**
 * Reads a TLS ClientHello, also one that comes in several records or a byte at a time, and what server it names.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8446#section-4.1.2
 * @see https://www.rfc-editor.org/rfc/rfc6066#section-3
 */
export function readClientHello(bytes: Buffer): HelloState {
  const found = handshakeOf(bytes);
  if (!('handshake' in found)) return found;
  try {
    return helloOf(new Reader(found.handshake), found.byteLength);
  } catch (error) {
    if (error instanceof RangeError) return refused('its TLS hello is broken');
    throw error;
  }
}

/** The one handshake message, out of its records. */
function handshakeOf(
  bytes: Buffer,
): { readonly handshake: Buffer; readonly byteLength: number } | Exclude<HelloState, { type: 'hello' }> {
  const parts: Buffer[] = [];
  let size = 0;
  let end: number | undefined;
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== HANDSHAKE_RECORD) return refused('what it sends first is no TLS');
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return refused('what it sends first is no TLS');
    if (at + 5 > bytes.length) return incomplete(bytes, at + 5);
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > 2 ** 14) return refused('its TLS hello is broken');
    if (parts.length === MAX_RECORDS) return refused(`its TLS hello is in more than ${MAX_RECORDS} pieces`);
    const part = bytes.subarray(at + 5, at + 5 + length);
    if (size === 0 && part.length > 0 && part[0] !== CLIENT_HELLO) return refused('its first TLS message is no hello');
    parts.push(part);
    size += part.length;
    at += 5 + length;
    if (end === undefined && size >= 4) end = 4 + Buffer.concat(parts, size).readUIntBE(1, 3);
    if (end !== undefined && end > MAX_HELLO_BYTES)
      return refused(`its TLS hello is longer than ${MAX_HELLO_BYTES} bytes`);
    if (at > bytes.length) return incomplete(bytes, at);
    if (end === undefined || size < end) continue;
    if (size > end) return refused('its TLS hello is broken');
    return { handshake: Buffer.concat(parts, size).subarray(4), byteLength: at };
  }
  return incomplete(bytes, bytes.length + 1);
}

function incomplete(bytes: Buffer, wantedBytes: number): Exclude<HelloState, { type: 'hello' }> {
  return bytes.length >= MAX_HELLO_BYTES
    ? refused(`its TLS hello is longer than ${MAX_HELLO_BYTES} bytes`)
    : { type: 'incomplete', wantedBytes: Math.min(wantedBytes, MAX_HELLO_BYTES) };
}

function helloOf(hello: Reader, byteLength: number): HelloState {
  hello.take(2 + 32); // version and random
  hello.vector(1); // session
  hello.vector(2); // ciphers
  hello.vector(1); // compressions
  const extensions = new Reader(hello.vector(2));
  if (!hello.isAtEnd) return refused('its TLS hello is broken');
  const seen = new Set<number>();
  let serverName: string | undefined;
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const body = new Reader(extensions.vector(2));
    if (seen.has(type)) return refused('its TLS hello is broken');
    seen.add(type);
    if (type === ENCRYPTED_HELLO)
      return refused('its TLS hello is encrypted (ECH), so that nobody sees which server it names');
    if (type === PROTOCOLS) {
      const names = new Reader(body.vector(2));
      while (!names.isAtEnd) {
        const name = names.vector(1).toString('latin1');
        if (!ALLOWED_PROTOCOLS.has(name)) return refused('it would speak something else than HTTP');
      }
    }
    if (type === SERVER_NAME) {
      const names = new Reader(body.vector(2));
      if (names.number(1) !== 0) return refused('its TLS hello is broken');
      serverName = names.vector(2).toString('latin1').toLowerCase();
      if (!names.isAtEnd) return refused('its TLS hello names several servers');
    }
  }
  return serverName === undefined
    ? refused('its TLS hello names no server')
    : { type: 'hello', serverName, byteLength };
}

function refused(reason: string): Extract<HelloState, { type: 'refused' }> {
  return { type: 'refused', reason };
}

/** Throws RangeError at the end of the bytes. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.#bytes.length) throw new RangeError('too short');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  number(width: 1 | 2): number {
    return this.take(width).readUIntBE(0, width);
  }

  /** Bytes after their own count of `width` bytes. */
  vector(width: 1 | 2): Buffer {
    return this.take(this.number(width));
  }
}
