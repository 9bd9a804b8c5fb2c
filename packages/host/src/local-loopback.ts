import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import {
  type ByteStream,
  type CallOptions,
  LitterboxError,
  type NamespaceLoopback,
  type NetworkNamespace,
  type OpenPort,
} from '@litterbox/core/provider';
import { ASSERT_NETWORK, cannotEnter, enterNetwork, reasonOf } from './enter-network.ts';
import { LocalListener } from './local-listener.ts';
import { socketOf, streamOf } from './socket-stream.ts';

/** A relay that opened nothing for so long ends; the next connection starts another one. */
const IDLE_MS = 60_000;
/** A full queue of a program that listens keeps a connection waiting; nobody waits for longer. */
const CONNECT_MS = 10_000;

/**
 * What runs inside the namespace: opens sockets and hands them out, and copies nothing. It ends with its parent. It is a program
 * of the host that only shares the network of the sandbox, so that nothing inside sees it; it connects to loopback alone.
 */
const RELAY = `'use strict';
${ASSERT_NETWORK}
const net = require('node:net');
process.on('disconnect', () => process.exit(0));
const first = new Map();
process.on('message', ({ id, port }) => {
  const hosts = first.get(port) === '::1' ? ['::1', '127.0.0.1'] : ['127.0.0.1', '::1'];
  const attempt = (index) => {
    const socket = new net.Socket({ allowHalfOpen: true });
    socket.pause(); // not a byte is read here
    socket.setTimeout(${CONNECT_MS}, () => socket.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })));
    socket.once('error', ({ code }) => (index === 0 ? attempt(1) : process.send({ id, code })));
    socket.once('connect', () => {
      socket.setTimeout(0);
      first.set(port, hosts[index]);
      process.send({ id }, socket, () => {});
    });
    socket.connect({ host: hosts[index], port });
  };
  attempt(0);
});
process.send({ id: 0 });`;

interface Answer {
  readonly id: number;
  readonly code?: string;
}

interface Relay {
  readonly child: ChildProcess;
  readonly waiting: Map<number, (answer: Answer, socket: Socket | undefined) => void>;
  /** Resolves when it is inside. */
  readonly ready: Promise<void>;
}

/** The loopback of a namespace of this machine, by a Node that `nsenter` starts in it. */
export class LocalLoopback implements NamespaceLoopback {
  readonly #namespace: NetworkNamespace;
  readonly #path: string;
  readonly #listeners = new Set<LocalListener>();
  #relay: Relay | undefined;
  #lastId = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #isDisposed = false;

  constructor(namespace: NetworkNamespace, programs: readonly string[]) {
    this.#namespace = namespace;
    this.#path = programs.join(':');
  }

  async connect(port: number, options?: CallOptions): Promise<ByteStream> {
    options?.signal?.throwIfAborted();
    this.#assertOpen('host.connect');
    const relay = (this.#relay ??= this.#start());
    await relay.ready;
    this.#rest(relay);
    const id = (this.#lastId += 1);
    const stream = await new Promise<ByteStream>((resolve, reject) => {
      relay.waiting.set(id, ({ code }, socket) => {
        relay.waiting.delete(id);
        if (socket) resolve(streamOf(socket));
        else reject(unavailable(port, code ?? 'the relay ended'));
      });
      if (relay.child.connected) relay.child.send({ id, port }, () => {});
      else relay.waiting.get(id)?.({ id }, undefined);
    });
    if (!options?.signal?.aborted) return stream;
    socketOf(stream)?.destroy();
    throw options.signal.reason;
  }

  async listen(port: number, onConnection: (stream: ByteStream) => void, options?: CallOptions): Promise<OpenPort> {
    options?.signal?.throwIfAborted();
    this.#assertOpen('host.listen');
    const listener = await LocalListener.open(this.#namespace, this.#path, port, onConnection, options);
    if (this.#isDisposed) await listener[Symbol.asyncDispose]();
    this.#assertOpen('host.listen');
    this.#listeners.add(listener);
    void listener.ended.then(() => this.#listeners.delete(listener));
    return listener;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    clearTimeout(this.#idle);
    await Promise.all([...this.#listeners].map((listener) => listener[Symbol.asyncDispose]()));
    const relay = this.#relay;
    this.#relay = undefined;
    if (!relay || relay.child.exitCode !== null || relay.child.signalCode !== null) return;
    const gone = new Promise((resolve) => relay.child.once('exit', resolve));
    relay.child.kill('SIGKILL');
    await gone;
  }

  #assertOpen(operation: string): void {
    if (this.#isDisposed) throw new LitterboxError('DISPOSED', 'The way into the sandbox was closed.', { operation });
  }

  #start(): Relay {
    const child = enterNetwork(this.#namespace, this.#path, RELAY);
    const waiting: Relay['waiting'] = new Map();
    let said = '';
    child.stderr?.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString('latin1')).slice(-2_000);
    });
    const ready = new Promise<void>((resolve, reject) => {
      waiting.set(0, () => {
        waiting.delete(0);
        resolve();
      });
      const failed = (reason: string) => {
        if (this.#relay === relay) this.#relay = undefined;
        reject(cannotEnter('host.connect', reason));
        for (const [id, answer] of waiting) if (id !== 0) answer({ id }, undefined);
      };
      child.once('error', (error) => failed(error.message));
      child.once('exit', (code) => failed(reasonOf(code, said)));
    });
    ready.catch(() => {}); // whoever connects is told
    child.on('message', (message, handle) => {
      const socket = handle instanceof Socket ? handle : undefined;
      if (socket) socket.allowHalfOpen = true;
      const answer = waiting.get((message as Answer).id);
      if (answer) answer(message as Answer, socket);
      else socket?.destroy();
    });
    child.unref();
    child.channel?.unref();
    (child.stderr as unknown as Socket | null)?.unref();
    const relay: Relay = { child, waiting, ready };
    return relay;
  }

  #rest(relay: Relay): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (relay.waiting.size > 0) return this.#rest(relay);
      if (this.#relay === relay) this.#relay = undefined;
      relay.child.kill('SIGKILL');
    }, IDLE_MS);
    this.#idle.unref();
  }
}

function unavailable(port: number, reason: string): LitterboxError {
  return new LitterboxError('UNAVAILABLE', `Nothing answers on port ${port} in the sandbox (${reason}).`, {
    operation: 'host.connect',
    hint: 'Start the program that listens there, on 127.0.0.1 or on every address.',
  });
}
