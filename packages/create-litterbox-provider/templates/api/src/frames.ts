import type { Duplex } from 'node:stream';

/** Kinds of a frame: one byte, the length of its content in four (big-endian), the content. */
export const FRAME = { command: 0, stdin: 1, stdinEnd: 2, stdout: 3, stderr: 4, exit: 5 } as const;
const HEAD_BYTES = 5;

export function frame(kind: number, bytes: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** The frames of a connection until it ends. The other side is held back while nobody takes them. */
export async function* framesOf(socket: Duplex): AsyncGenerator<{ readonly kind: number; readonly content: Buffer }> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= HEAD_BYTES && rest.length >= HEAD_BYTES + rest.readUInt32BE(1)) {
      const end = HEAD_BYTES + rest.readUInt32BE(1);
      yield { kind: rest.readUInt8(0), content: rest.subarray(HEAD_BYTES, end) };
      rest = rest.subarray(end);
    }
  }
}
