import { close, constants, fstat, open } from 'node:fs';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import { type HostPipes, LitterboxError } from '@litterbox/core/provider';
import { hostError } from './host-error.ts';

const [openFile, closeFile, statFile] = [promisify(open), promisify(close), promisify(fstat)];

/** Named pipes of this machine. None of its methods waits for who has the other end. */
export const localPipes: HostPipes = {
  read: async (path) => {
    const socket = new Socket({ fd: await opened(path, constants.O_RDONLY), readable: true, writable: false });
    socket.on('error', () => {}); // `close` tells
    return socket;
  },
  write: async (path) => {
    const fd = await opened(path, constants.O_WRONLY).catch(
      (error: { readonly cause?: { readonly code?: string } }) => {
        if (error.cause?.code === 'ENXIO') return undefined;
        throw error;
      },
    );
    if (fd === undefined) return undefined;
    const socket = new Socket({ fd, readable: false, writable: true });
    socket.on('error', () => {}); // nobody reads it any more
    return {
      write: async (bytes) => {
        if (socket.writable) await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
      },
      end: () => void socket.end(),
      destroy: () => void socket.destroy(),
    };
  },
  release: async (path) => await closeFile(await opened(path, constants.O_RDWR)),
};

/** The descriptor. @throws LitterboxError also for what is no pipe */
async function opened(path: string, how: number): Promise<number> {
  const flags = how | constants.O_NONBLOCK | constants.O_NOFOLLOW;
  const fd = await openFile(path, flags).catch((error: NodeJS.ErrnoException) => {
    throw hostError('host.pipe', path, error);
  });
  if ((await statFile(fd)).isFIFO()) return fd;
  await closeFile(fd);
  throw new LitterboxError('INTERNAL', `${path} is no pipe.`, { operation: 'host.pipe' });
}
