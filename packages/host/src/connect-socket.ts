import { connect, type Socket } from 'node:net';
import { type ByteStream, type CallOptions, type SocketAddress } from '@litterbox/core/provider';
import { hostError } from './host-error.ts';
import { streamOf } from './socket-stream.ts';

/** Opens a Unix or TCP socket of this machine. */
export async function connectSocket(address: SocketAddress, options?: CallOptions): Promise<ByteStream> {
  options?.signal?.throwIfAborted();
  return streamOf(await opened(address, options?.signal));
}

function opened(address: SocketAddress, signal: AbortSignal | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    const abort = () => socket.destroy(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    const done = () => signal?.removeEventListener('abort', abort);
    socket.once('connect', () => {
      done();
      socket.off('error', failed);
      resolve(socket);
    });
    const failed = (error: Error) => {
      done();
      const place = 'path' in address ? address.path : `${address.host}:${address.port}`;
      reject(signal?.aborted ? signal.reason : hostError('host.connect', place, error));
    };
    socket.once('error', failed);
  });
}
