import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import {
  type ConnectionOptions,
  connect as connectTls,
  createServer as createTlsServer,
  type TLSSocket,
} from 'node:tls';
import {
  type ByteStream,
  type Clock,
  type GatePolicy,
  type GateReport,
  RepositoryId,
  type Spending,
} from '@litterbox/core/provider';
import { memoryState, StateShelf } from '@litterbox/memory';
import { Fixture } from '@litterbox/testing';
import { networkGate, type NetworkGateOptions } from '../src/index.ts';

/** A clock that is turned by hand. */
export class HandClock implements Clock {
  #nowMs = 0;
  readonly #sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();

  wallMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  get sleepers(): number {
    return this.#sleepers.size;
  }

  sleep(durationMs: number, options?: { readonly signal?: AbortSignal | undefined }): Promise<void> {
    return new Promise((resolve, reject) => {
      const sleeper = { untilMs: this.#nowMs + durationMs, wake: resolve };
      this.#sleepers.add(sleeper);
      options?.signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper);
        reject(options.signal?.reason as Error);
      });
    });
  }

  advance(durationMs: number): void {
    this.#nowMs += durationMs;
    for (const sleeper of this.#sleepers) {
      if (sleeper.untilMs > this.#nowMs) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
  }
}

/** TLS without certificates: both sides know a key. SNI and ALPN are as ever. */
const KEY = Buffer.alloc(32, 7);
export const TLS: ConnectionOptions = {
  ciphers: 'PSK-AES128-GCM-SHA256:@SECLEVEL=0',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
  pskCallback: () => ({ psk: KEY, identity: 'test' }),
  checkServerIdentity: () => undefined,
  ALPNProtocols: ['http/1.1'],
};

/** A server on the Internet, which is this machine's loopback here, a gate that reaches it under any name, and a port inside. */
export interface GateFixture extends Fixture {
  readonly reports: GateReport[];
  /** Addresses that were dialled. */
  readonly dialled: string[];
  /** Names that were looked up. */
  readonly looked: string[];
  readonly clock: HandClock;
  /** A connection as a program inside opens it. */
  open(): Promise<Socket>;
  /** All that comes back for these bytes, until the other side closes. */
  ask(bytes: string | Buffer): Promise<string>;
  /** TLS with the server, through the gate. */
  secure(host: string, servername?: string): Promise<TLSSocket>;
  /** Ends the gate alone. */
  closeGate(): Promise<void>;
}

export async function gateFixture(
  policy: Partial<GatePolicy>,
  options: Partial<NetworkGateOptions> & {
    readonly addresses?: (host: string) => Promise<readonly string[]>;
    readonly serve?: (socket: TLSSocket) => void;
    /** Before something is written into the books. */
    readonly write?: (what: GateReport | Spending) => Promise<void>;
    /** Where budgets are kept, and whose they are. */
    readonly shelf?: StateShelf;
    readonly repository?: RepositoryId;
  } = {},
): Promise<GateFixture> {
  const {
    addresses = async () => ['1.1.1.1'],
    serve = (socket: TLSSocket) => void socket.pipe(socket),
    write = async () => {},
    shelf = new StateShelf(),
    repository = RepositoryId.make(),
    ...rest
  } = options;
  const sockets = new Set<Socket>();
  const kept = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    return socket;
  };
  const outside = createTlsServer({ ...TLS, pskCallback: () => KEY, allowHalfOpen: true } as never, (socket) => {
    socket.on('error', () => {});
    serve(socket);
  });
  outside.on('connection', kept);
  outside.on('tlsClientError', () => {});
  const reports: GateReport[] = [];
  const dialled: string[] = [];
  const looked: string[] = [];
  const clock = new HandClock();
  const state = memoryState(shelf, clock);
  const gate = await networkGate({
    clock,
    ...rest,
    reach: {
      resolve: async (host) => {
        looked.push(host);
        return await addresses(host);
      },
      dial: async (address) => {
        dialled.push(address);
        const socket = kept(connect({ port: portOf(outside), host: '127.0.0.1', allowHalfOpen: true }));
        await once(socket, 'connect');
        return socket;
      },
      ...rest.reach,
    },
  }).open(
    { allow: [], deny: [], ...policy },
    {
      report: async (report) => {
        await write(report);
        reports.push(report);
      },
      spend: async (spending) => {
        await write(spending);
        return await state.spend(repository, spending);
      },
    },
  );
  const inside = createServer({ allowHalfOpen: true }, (socket) => void gate.serve(streamOf(kept(socket))));
  await Promise.all([listening(outside), listening(inside)]);
  const open = async () => {
    const socket = kept(connect({ port: portOf(inside), host: '127.0.0.1', allowHalfOpen: true }));
    await once(socket, 'connect');
    return socket;
  };
  const fixture = new Fixture();
  fixture.defer(async () => {
    await gate[Symbol.asyncDispose]();
    for (const socket of sockets) socket.destroy();
    await Promise.all([closed(outside), closed(inside)]);
  });
  return Object.assign(fixture, {
    reports,
    dialled,
    looked,
    clock,
    open,
    async ask(bytes: string | Buffer) {
      const socket = await open();
      socket.write(bytes);
      const answer = await allOf(socket);
      socket.destroy();
      return answer;
    },
    async secure(host: string, servername = host) {
      const socket = await open();
      socket.write(`CONNECT ${host}:443 HTTP/1.1\r\n\r\n`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(answer.toString('latin1'));
      const secure = connectTls({ ...TLS, socket, servername });
      await once(secure, 'secureConnect');
      secure.on('error', () => {});
      return secure;
    },
    closeGate: async () => await gate[Symbol.asyncDispose](),
  });
}

/** Everything until the end. */
export async function allOf(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}

function streamOf(socket: Socket): ByteStream {
  const { readable, writable } = Duplex.toWeb(socket);
  return {
    readable: readable as ReadableStream<Uint8Array>,
    writable: writable as WritableStream<Uint8Array>,
    async [Symbol.asyncDispose]() {
      socket.destroySoon();
    },
  };
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

async function listening(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
