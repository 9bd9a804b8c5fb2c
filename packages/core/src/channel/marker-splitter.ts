/** Longest status line behind a marker, in bytes. Anything longer did not come from our shell. */
const MAX_STATUS_BYTES = 64;

/**
 * Finds the end of a command's output in a worker's stream: RECORD SEPARATOR (0x1e), the nonce, a space, a status, a newline.
 * Everything before it is output and is passed on as soon as it cannot be part of a marker any more.
 */
export class MarkerSplitter {
  readonly #onOutput: (bytes: Uint8Array) => void;
  readonly #onStatus: (status: string) => void;
  #marker: Uint8Array = new Uint8Array();
  #pending: Uint8Array = new Uint8Array();

  constructor(onOutput: (bytes: Uint8Array) => void, onStatus: (status: string) => void) {
    this.#onOutput = onOutput;
    this.#onStatus = onStatus;
  }

  /** From here on the marker of this nonce (ASCII) ends the output. */
  expect(nonce: string): void {
    this.#marker = new TextEncoder().encode(`\u001e${nonce} `);
  }

  /** What waited for the rest of a marker that never came, once the stream has ended. */
  flush(): void {
    if (this.#pending.length > 0) this.#onOutput(this.#pending);
    this.#pending = new Uint8Array();
  }

  push(chunk: Uint8Array): void {
    let bytes = chunk;
    if (this.#pending.length > 0) {
      bytes = new Uint8Array(this.#pending.length + chunk.length);
      bytes.set(this.#pending);
      bytes.set(chunk, this.#pending.length);
      this.#pending = new Uint8Array();
    }
    for (;;) {
      const at = this.#find(bytes);
      if (at > 0) this.#onOutput(bytes.subarray(0, at));
      bytes = bytes.subarray(at);
      if (bytes.length < this.#marker.length || !this.#startsWithMarker(bytes)) {
        this.#pending = bytes.slice(); // empty, or the beginning of what may become a marker
        return;
      }
      const end = bytes.indexOf(0x0a, this.#marker.length);
      if (end === -1 && bytes.length <= this.#marker.length + MAX_STATUS_BYTES) {
        this.#pending = bytes.slice();
        return;
      }
      const status = new TextDecoder().decode(
        bytes.subarray(this.#marker.length, end === -1 ? this.#marker.length : end),
      );
      bytes = bytes.subarray(end === -1 ? this.#marker.length : end + 1);
      this.#onStatus(status);
    }
  }

  #startsWithMarker(bytes: Uint8Array): boolean {
    return this.#marker.every((byte, index) => bytes[index] === byte);
  }

  /** Index of the first marker, or of what may be the beginning of one at the end, or the length. */
  #find(bytes: Uint8Array): number {
    for (let at = bytes.indexOf(0x1e); at !== -1; at = bytes.indexOf(0x1e, at + 1)) {
      const length = Math.min(this.#marker.length, bytes.length - at);
      let matches = true;
      for (let index = 0; index < length && matches; index += 1) matches = bytes[at + index] === this.#marker[index];
      if (matches) return at;
    }
    return bytes.length;
  }
}
