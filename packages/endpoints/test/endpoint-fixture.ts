import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ByteStream, EndpointOutcome, EndpointPolicy, EndpointRequest } from '@litterbox/core/provider';
import { Fixture, makeCertificate } from '@litterbox/testing';
import { endpointGate, type EndpointGateOptions } from '../src/index.ts';

/** Known outside alone. */
export const SECRET = 'sk-real-0123456789abcdef-canary';
export const PLACEHOLDER = 'sk-test-litterbox-placeholder';

/** A request as the server got it. */
export interface HeardRequest {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  body: string;
}

export interface EndpointFixture extends Fixture {
  /** Where the endpoint listens. */
  readonly port: number;
  readonly url: string;
  readonly heard: HeardRequest[];
  readonly entries: (EndpointRequest & { readonly outcome: EndpointOutcome })[];
  /** How often the secret was read. */
  readonly reads: () => number;
  /** All that comes back for these bytes, until the other side closes. */
  say(...bytes: readonly (string | Buffer)[]): Promise<string>;
  open(): Promise<Socket>;
  /** Ends the endpoint alone. */
  close(): Promise<void>;
}

export interface EndpointFixtureOptions extends EndpointGateOptions {
  readonly policy?: Partial<EndpointPolicy>;
  /** What the server does. @defaultValue says what it heard */
  readonly serve?: (request: IncomingMessage, response: ServerResponse) => void;
  readonly upgrade?: (request: IncomingMessage, socket: Duplex) => void;
  readonly readSecret?: () => Promise<string>;
  readonly begin?: (request: EndpointRequest) => Promise<'often' | 'spent' | void>;
  /** The server's certificate is none that the endpoint trusts. */
  readonly isStranger?: boolean;
  /** Of the server's address. @defaultValue none */
  readonly path?: string;
}

const CERTIFICATE = makeCertificate();

/** A server outside that takes one secret, an endpoint that leads there, and a port inside. */
export async function endpointFixture(options: EndpointFixtureOptions = {}): Promise<EndpointFixture> {
  const sockets = new Set<Socket>();
  const kept = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    return socket;
  };
  const heard: HeardRequest[] = [];
  const outside = createTlsServer(CERTIFICATE, (request, response) => {
    const { method = '', url = '', rawHeaders, headers } = request;
    const one = { method, url, rawHeaders, headers, body: '' };
    heard.push(one);
    if (options.serve) return options.serve(request, response);
    request.setEncoding('latin1').on('data', (text: string) => (one.body += text));
    request.on('end', () => response.end('heard'));
  });
  if (options.upgrade) outside.on('upgrade', options.upgrade);
  outside.on('connection', kept);
  outside.on('tlsClientError', () => {});
  await listening(outside);
  const inside = createServer(
    { allowHalfOpen: true, noDelay: true },
    (socket) => void gate.serve(streamOf(kept(socket))),
  );
  await listening(inside);
  const port = portOf(inside);
  const entries: EndpointFixture['entries'] = [];
  let reads = 0;
  const {
    policy,
    readSecret = async () => SECRET,
    begin = async () => {},
    isStranger = false,
    path = '',
    ...rest
  } = options;
  const gate = await endpointGate({ ...(!isStranger && { ca: CERTIFICATE.cert }), ...rest }).open(
    {
      name: 'model',
      inside: port,
      url: `https://localhost:${portOf(outside)}${path}`,
      header: { name: 'authorization', value: 'Bearer {secret}' },
      secret: { name: 'MODEL_KEY', origin: { environment: 'MODEL_KEY' } },
      methods: ['GET', 'HEAD', 'POST'],
      paths: ['/v1/*', '/exact'],
      variables: {},
      placeholder: PLACEHOLDER,
      ...policy,
    },
    {
      readSecret: async () => {
        reads += 1;
        return await readSecret();
      },
      forgetSecret: () => {},
      begin: async (request) => {
        const refused = await begin(request);
        if (refused !== undefined) return refused;
        return async (outcome) => void entries.push({ ...request, outcome });
      },
    },
  );
  const open = async () => {
    const socket = kept(connect({ port, host: '127.0.0.1', allowHalfOpen: true }));
    await once(socket, 'connect');
    return socket;
  };
  const fixture = new Fixture();
  fixture.defer(async () => {
    await gate[Symbol.asyncDispose]();
    for (const socket of sockets) socket.destroy();
    outside.close();
    inside.close();
  });
  return Object.assign(fixture, {
    port,
    url: `http://127.0.0.1:${port}`,
    heard,
    entries,
    reads: () => reads,
    open,
    async say(...bytes: readonly (string | Buffer)[]) {
      const socket = await open();
      for (const one of bytes) socket.write(one);
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
      } catch {
        // reset: what came is what came
      }
      socket.destroy();
      return Buffer.concat(chunks).toString('latin1');
    },
    close: async () => await gate[Symbol.asyncDispose](),
  });
}

function portOf(server: Server | ReturnType<typeof createTlsServer>): number {
  return (server.address() as AddressInfo).port;
}

async function listening(server: Server | ReturnType<typeof createTlsServer>): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

function streamOf(socket: Socket): ByteStream {
  return Object.assign(Duplex.toWeb(socket) as Pick<ByteStream, 'readable' | 'writable'>, {
    async [Symbol.asyncDispose]() {
      socket.destroy();
    },
  });
}
