/** One connection, both ways. Disposing closes both directions at once and is idempotent. */
export interface ByteStream extends AsyncDisposable {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}
