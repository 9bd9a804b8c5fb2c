import { Duplex } from 'node:stream';
import { callbackify } from 'node:util';
import { type ByteStream } from '@litterbox/core/provider';

/**
 * A connection of a host as an HTTP client wants it. Empty writes, by which such a client marks the end of a request, are left out:
 * on a socket whose other end has answered and gone they would be an error.
 */
export function duplexOf({ readable, writable, [Symbol.asyncDispose]: dispose }: ByteStream): Duplex {
  const reader = readable.getReader();
  const writer = writable.getWriter();
  const stream = new Duplex({
    allowHalfOpen: true,
    read: () => void pull(),
    write: callbackify(async (chunk: Uint8Array, _encoding: string) => {
      if (chunk.length > 0) await writer.write(chunk);
    }),
    final: callbackify(async () => {
      await writer.close().catch(() => {}); // the other end has gone: there is nobody to tell
    }),
    destroy: callbackify(async (error: Error | null) => {
      await dispose();
      if (error) throw error;
    }),
  });
  async function pull(): Promise<void> {
    try {
      const { done, value } = await reader.read();
      stream.push(done ? null : value);
    } catch (error) {
      stream.destroy(error as Error);
    }
  }
  return stream;
}
