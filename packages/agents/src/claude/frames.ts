/** What goes between the relay and the seat: a byte that says what it is, its length in four, and its bytes. */
export const FRAMES = {
  /** To the seat: the text, the directory, whether errors go where output goes, and the file where that is, as JSON. The first, once. */
  request: 0,
  input: 1,
  inputEnd: 2,
  /** To the relay. */
  output: 3,
  error: 4,
  /** The next piece of input may come. */
  accepted: 5,
  /** The last: one byte. */
  exit: 6,
} as const;

/** Larger than any argument that Linux lets a program have, in JSON. */
export const MAX_FRAME_BYTES = 2 ** 20;

/** Its text becomes part of the relay, as that of {@link frameReader}: they name nothing outside of themselves. */
export function frame(kind: number, bytes: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Puts frames together again from pieces as they come. */
export function frameReader(
  maxBytes: number,
  onFrame: (kind: number, bytes: Buffer) => void,
): (piece: Uint8Array) => void {
  let kept = Buffer.alloc(0);
  return (piece) => {
    kept = Buffer.concat([kept, piece]);
    while (kept.length >= 5) {
      const length = kept.readUInt32BE(1);
      if (length > maxBytes) throw new RangeError(`a frame of ${length} bytes`);
      if (kept.length < 5 + length) return;
      const [kind, bytes] = [kept.readUInt8(0), kept.subarray(5, 5 + length)];
      kept = kept.subarray(5 + length);
      onFrame(kind, bytes);
    }
  };
}
