import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type ByteStream } from '@litterbox/core/provider';

const sockets = new WeakMap<ByteStream, Socket>();

/** A socket as a {@link ByteStream}. Its web streams are made when they are asked for: who has the socket needs none. */
export function streamOf(socket: Socket): ByteStream {
  socket.on('error', () => {}); // whoever reads or writes is told; nobody has to
  let web: Pick<ByteStream, 'readable' | 'writable'> | undefined;
  const streams = () => {
    web ??= Duplex.toWeb(socket) as unknown as Pick<ByteStream, 'readable' | 'writable'>;
    return web;
  };
  const stream: ByteStream = {
    get readable() {
      return streams().readable;
    },
    get writable() {
      return streams().writable;
    },
    async [Symbol.asyncDispose]() {
      socket.destroy();
    },
  };
  sockets.set(stream, socket);
  return stream;
}

/** The socket below a stream that {@link streamOf} made and nobody has read from. */
export function socketOf(stream: ByteStream): Socket | undefined {
  return sockets.get(stream);
}
