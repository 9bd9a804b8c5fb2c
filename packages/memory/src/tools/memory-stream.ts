import { type ByteStream } from '@litterbox/core/provider';

/** Two ends of a connection: what is written into the one comes out of the other. */
export function memoryStream(): readonly [ByteStream, ByteStream] {
  const there = new TransformStream<Uint8Array, Uint8Array>();
  const back = new TransformStream<Uint8Array, Uint8Array>();
  const end = async () => {
    for (const { writable } of [there, back]) await writable.abort().catch(() => {});
  };
  return [
    { readable: back.readable, writable: there.writable, [Symbol.asyncDispose]: end },
    { readable: there.readable, writable: back.writable, [Symbol.asyncDispose]: end },
  ];
}
