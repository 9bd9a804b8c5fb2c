import { connect, createServer } from 'node:net';
import type { Door } from './ssh-machine.ts';

const PATIENCE_MS = 30_000;

/** A port of loopback that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}

/** Waits until somebody listens. @param check throws when nobody will */
export async function answering(door: Door, check: () => void): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    check();
    if (await isOpen(door)) return;
    if (Date.now() > until) throw new Error(`Nobody listens at ${door.address}:${door.port}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function isOpen({ address, port }: Door): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
