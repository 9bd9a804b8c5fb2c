import type { ChildProcess } from 'node:child_process';
import { createServer, Server, type Socket } from 'node:net';
import {
  type ByteStream,
  type CallOptions,
  LitterboxError,
  type NetworkNamespace,
  type OpenPort,
  advice,
  step,
} from '@litterbox/core/provider';
import { ASSERT_NETWORK, cannotEnter, enterNetwork, reasonOf } from './enter-network.ts';
import { streamOf } from './socket-stream.ts';

/** At once, of one port. */
const MAX_CONNECTIONS = 64;
/** Of a program that has nothing to do but to open two sockets, on a machine under load. */
const ENTER_MS = 30_000;

/**
 * What runs inside the namespace, for a moment: opens the sockets that listen, hands them out and is ended. On both addresses,
 * or on none; a machine without IPv6 has the one. Who connects before both have been handed out is reset.
 */
const OPENER = `'use strict';
${ASSERT_NETWORK}
const net = require('node:net');
process.on('disconnect', () => process.exit(0));
const listen = (host) => new Promise((resolve, reject) => {
  const server = net.createServer({ pauseOnConnect: true }, (socket) => socket.resetAndDestroy());
  server.once('error', reject);
  server.listen({ host, port: Number(process.argv[2]), exclusive: true, ipv6Only: true }, () => resolve(server));
});
(async () => {
  const servers = [await listen('127.0.0.1')];
  try {
    servers.push(await listen('::1'));
  } catch (error) {
    if (error.code !== 'EADDRNOTAVAIL' && error.code !== 'EAFNOSUPPORT') throw error;
  }
  for (const server of servers) process.send({ type: 'server' }, server, () => {});
  process.send({ type: 'done' });
})().catch(({ code }) => process.send({ type: 'refused', code }));`;

type Answer = { readonly type: 'server' | 'done' } | { readonly type: 'refused'; readonly code?: string };

/**
 * A port of a namespace's loopback that leads to this process, which alone holds what listens: there is no program in between
 * whose end would be another one's, and with this process the port is gone.
 */
export class LocalListener implements OpenPort {
  readonly ended: Promise<void>;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #onConnection: (stream: ByteStream) => void;
  #hasEnded = () => {};

  private constructor(onConnection: (stream: ByteStream) => void) {
    this.#onConnection = onConnection;
    this.ended = new Promise((resolve) => {
      this.#hasEnded = resolve;
    });
  }

  static async open(
    namespace: NetworkNamespace,
    searchPath: string,
    port: number,
    onConnection: (stream: ByteStream) => void,
    options?: CallOptions,
  ): Promise<LocalListener> {
    options?.signal?.throwIfAborted();
    const listener = new LocalListener(onConnection);
    const child = enterNetwork(namespace, searchPath, OPENER, String(port));
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => child.pid === undefined && resolve());
    });
    const end = () => child.kill('SIGKILL');
    const late = setTimeout(end, ENTER_MS);
    options?.signal?.addEventListener('abort', end, { once: true });
    try {
      await listener.#takeFrom(child, port);
    } catch (error) {
      await listener[Symbol.asyncDispose]();
      options?.signal?.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(late);
      options?.signal?.removeEventListener('abort', end);
      end();
      await ended; // until then it holds them too, and takes connections
    }
    return listener;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = this.#servers
      .splice(0)
      .map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
    this.#hasEnded();
  }

  #takeFrom(child: ChildProcess, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let said = '';
      child.stderr?.on('data', (bytes: Buffer) => {
        said = (said + bytes.toString('latin1')).slice(-2_000);
      });
      child.once('error', (error) => reject(cannotEnter('host.listen', error.message)));
      child.once('exit', (code) => reject(cannotEnter('host.listen', reasonOf(code, said))));
      child.on('message', (message, handle) => {
        const answer = message as Answer;
        if (handle instanceof Server) this.#take(handle);
        else if (answer.type === 'refused') reject(refused(port, answer.code));
        else resolve();
      });
    });
  }

  /** What was handed over has no options of ours: another server takes its socket. */
  #take(handed: Server): void {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) =>
      this.#receive(socket),
    );
    server.on('error', () => {}); // of one connection, such as no descriptor left for it
    server.listen(handed);
    this.#servers.push(server);
  }

  #receive(socket: Socket): void {
    if (this.#servers.length === 0 || this.#sockets.size >= MAX_CONNECTIONS) return void socket.resetAndDestroy();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    try {
      this.#onConnection(streamOf(socket));
    } catch {
      socket.resetAndDestroy(); // nobody there has it
    }
  }
}

function refused(port: number, code: string | undefined): LitterboxError {
  if (code === 'EADDRINUSE')
    return new LitterboxError('PORT_TAKEN', `A program in the sandbox listens on port ${port}.`, {
      operation: 'host.listen',
      hint: 'End that program, or choose another number.',
    });
  return new LitterboxError('UNSUPPORTED', `Nothing can listen on port ${port} in the sandbox (${code}).`, {
    operation: 'host.listen',
    hint: advice`Choose a number from 1024 on; if it happens again, run ${step('machine-check')}.`,
  });
}
