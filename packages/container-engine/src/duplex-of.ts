import { Duplex } from 'node:stream';
import type { ByteStream } from '@litterbox/core/provider';

/**
 * A connection of a host as an HTTP client wants it. Empty writes, by which such a client marks the end of a request, are left out:
 * on a socket whose other end has answered and gone they would be an error.
 */
export function duplexOf({ readable, writable, [Symbol.asyncDispose]: dispose }: ByteStream): Duplex {
  const reader = readable.getReader();
  const writer = writable.getWriter();
  return new Duplex({
    allowHalfOpen: true,
    read() {
      reader.read().then(
        ({ done, value }) => this.push(done ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
    write(chunk: Uint8Array, _encoding, done) {
      if (chunk.length === 0) return done();
      writer.write(chunk).then(
        () => done(),
        (error: Error) => done(error),
      );
    },
    final(done) {
      writer.close().then(
        () => done(),
        () => done(), // the other end has gone: there is nobody to tell
      );
    },
    destroy(error, done) {
      dispose().then(
        () => done(error),
        () => done(error),
      );
    },
  });
}
