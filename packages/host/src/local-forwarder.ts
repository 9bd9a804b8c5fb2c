import { randomInt } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import {
  type ByteStream,
  type CallOptions,
  type Forward,
  LitterboxError,
  type PortForwarder,
} from '@litterbox/core/provider';
import { hostError } from './host-error.ts';
import { joinSockets } from './join-sockets.ts';
import { socketOf } from './socket-stream.ts';

const FOUR = '127.0.0.1';
const SIX = '::1';
/** Below the numbers that the kernel gives to connections that go out, so that none of them takes one while nobody listens. */
const NUMBERS = { first: 20_000, last: 32_000 };
const MAX_ATTEMPTS = 200;
/** At once, of one port; more wait in the kernel's queue or are reset. */
const MAX_CONNECTIONS = 512;

/** Ports of this machine's loopback. Nothing but 127.0.0.1 and ::1 is ever listened on. */
export function localForwarder(): PortForwarder {
  return { free, listen };
}

async function free(without: ReadonlySet<number>, options?: CallOptions): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    options?.signal?.throwIfAborted();
    const port = randomInt(NUMBERS.first, NUMBERS.last);
    if (without.has(port)) continue;
    const servers = await bound(port, () => {}).catch(() => undefined);
    if (!servers) continue;
    await closed(servers);
    return port;
  }
  throw new LitterboxError('RESOURCE_EXHAUSTED', 'No free port was found on this machine.', {
    operation: 'port.find',
    hint: `Programs listen on nearly all of the ports ${NUMBERS.first} to ${NUMBERS.last}: end some.`,
  });
}

async function listen(port: number, open: () => Promise<ByteStream>, options?: CallOptions): Promise<Forward> {
  options?.signal?.throwIfAborted();
  const sockets = new Set<Socket>();
  const servers = await bound(port, (outer) => {
    sockets.add(outer);
    outer.once('close', () => sockets.delete(outer));
    outer.on('error', () => {}); // a visitor that went away
    void carry(outer, open);
  });
  return {
    port,
    async [Symbol.asyncDispose]() {
      const gone = closed(servers);
      for (const socket of sockets) socket.destroy();
      await gone;
    },
  };
}

async function carry(outer: Socket, open: () => Promise<ByteStream>): Promise<void> {
  let stream: ByteStream;
  try {
    stream = await open();
  } catch {
    outer.resetAndDestroy(); // as when nothing listens
    return;
  }
  if (outer.destroyed) return void stream[Symbol.asyncDispose]();
  const inner = socketOf(stream);
  if (inner) {
    joinSockets(outer, inner);
    return;
  }
  const { readable, writable } = Duplex.toWeb(outer);
  await Promise.all([
    (readable as ReadableStream<Uint8Array>).pipeTo(stream.writable),
    stream.readable.pipeTo(writable as WritableStream<Uint8Array>),
  ]).catch(() => outer.destroy());
  await stream[Symbol.asyncDispose]();
}

/** On both addresses, or on none. A machine without IPv6 has the one. */
async function bound(port: number, onConnection: (socket: Socket) => void): Promise<readonly Server[]> {
  const four = await listening(FOUR, port, onConnection);
  try {
    return [four, await listening(SIX, port, onConnection)];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return [four];
    await closed([four]);
    throw error instanceof LitterboxError ? error : hostError('port.listen', `${SIX}:${port}`, error);
  }
}

function listening(host: string, port: number, onConnection: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, onConnection);
    server.maxConnections = MAX_CONNECTIONS;
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') return reject(error);
      reject(
        new LitterboxError('PORT_TAKEN', `Another program listens on port ${port} of this machine.`, {
          operation: 'port.listen',
          hint: 'Choose another number.',
        }),
      );
    });
    server.listen({ host, port, exclusive: true, ipv6Only: true, backlog: 511 }, () => {
      server.on('error', () => {}); // of one connection, such as no descriptor left for it
      resolve(server);
    });
  });
}

async function closed(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
}
