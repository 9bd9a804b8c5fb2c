import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Agent } from 'node:https';
import { Duplex } from 'node:stream';
import { type ByteStream, type EndpointGate, type OpenGate, upstreamProxyOf } from '@litterbox/core/provider';
import { type EndpointParts, forwardRequest, hostOf } from './forward-request.ts';
import { ProxyAgent } from './proxy-agent.ts';
import { answerRefusal } from './refusal.ts';

/** How long is waited for, and whom a server is checked by. */
export interface EndpointGateOptions {
  /** Until the head of a request is there, in milliseconds. @defaultValue one minute */
  readonly headMs?: number;
  /** Both ways silent, in milliseconds. @defaultValue ten minutes */
  readonly idleMs?: number;
  /** Certificates in PEM that servers are checked by. @defaultValue those of Node and of `NODE_EXTRA_CA_CERTS` */
  readonly ca?: string;
  /** Variables of the person, that name a proxy. @defaultValue none */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

const HEAD_MS = 60_000;
const IDLE_MS = 10 * 60_000;
const MAX_HEAD_BYTES = 16 * 1024;
/** How long a connection that nobody uses is kept: a server that closes it at the same moment fails the request that comes. */
const REUSE_MS = 4_000;
/** To one server at once. The port inside lets as many in. */
const MAX_SOCKETS = 64;

/**
 * Ways to servers on which secrets are set. Does nothing before a connection comes.
 *
 * @throws LitterboxError `UNSUPPORTED` when one is opened, for a proxy of the person's that is none of plain HTTP
 */
export function endpointGate({
  headMs = HEAD_MS,
  idleMs = IDLE_MS,
  ca,
  environment = {},
}: EndpointGateOptions = {}): EndpointGate {
  return {
    async open(policy, books) {
      const options = { keepAlive: true, timeout: REUSE_MS, maxSockets: MAX_SOCKETS, maxFreeSockets: 8 };
      const proxy = upstreamProxyOf(environment);
      const isProxied = proxy && !proxy.isBypassed(hostOf(policy));
      const agent = isProxied ? new ProxyAgent(proxy, options) : new Agent(options);
      return openGate({ policy, books, agent, idleMs, ...(ca !== undefined && { ca }) }, headMs);
    },
  };
}

function openGate(parts: EndpointParts, headMs: number): OpenGate {
  const running = new Set<Promise<void>>();
  const sockets = new Map<Duplex, NodeJS.Timeout>();
  const run = (work: Promise<void>) => {
    const ended = work.catch(() => {}).finally(() => running.delete(ended));
    running.add(ended);
  };
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES, insecureHTTPParser: false, keepAlive: true });
  server.maxHeadersCount = 0; // bounded by their bytes; beyond a count Node would leave them out without a word
  const hold = ({ socket }: IncomingMessage) => clearTimeout(sockets.get(socket));
  server.on('request', (request, response) => {
    hold(request);
    response.once('finish', () => arm(sockets, request.socket, headMs));
    run(forwardRequest(parts, request, response));
  });
  server.on('upgrade', (request, socket, head) => {
    hold(request);
    run(forwardUpgrade(parts, request, socket, head));
  });
  server.on('connect', (_request, socket) => {
    refuseRaw(socket, '405 Method Not Allowed');
  });
  server.on('clientError', (_error, socket) => {
    refuseRaw(socket, '400 Bad Request');
  });
  return {
    serve: async (stream) => await serve(server, stream, sockets, headMs),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.keys()) socket.destroy();
      parts.agent.destroy();
      await Promise.all(running);
    },
  };
}

/** Hands one connection to Node's server, which takes any stream for one, and resolves when it has ended. */
async function serve(
  server: Server,
  stream: ByteStream,
  sockets: Map<Duplex, NodeJS.Timeout>,
  headMs: number,
): Promise<void> {
  try {
    const socket = Duplex.fromWeb(stream, { allowHalfOpen: true });
    const closed = new Promise<void>((resolve) => socket.once('close', resolve));
    socket.on('error', () => {}); // told by the read or the write that fails
    arm(sockets, socket, headMs);
    server.emit('connection', socket);
    await closed;
    clearTimeout(sockets.get(socket));
    sockets.delete(socket);
  } finally {
    await stream[Symbol.asyncDispose]().then(undefined, () => {});
  }
}

/** Closes a connection whose next head does not come in time. */
function arm(sockets: Map<Duplex, NodeJS.Timeout>, socket: Duplex, headMs: number): void {
  clearTimeout(sockets.get(socket));
  if (!socket.destroyed) sockets.set(socket, setTimeout(() => socket.destroy(), headMs).unref());
}

async function forwardUpgrade(
  parts: EndpointParts,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  socket.on('error', () => {});
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
  response.once('finish', () => socket.end());
  const { upgrade = '' } = request.headers;
  if (request.method !== 'GET' || upgrade.toLowerCase() !== 'websocket')
    return answerRefusal(response, { status: 400, reason: 'only a WebSocket takes the place of HTTP here' });
  await forwardRequest(parts, request, response, { socket, head });
}

function refuseRaw(socket: Duplex, status: string): void {
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  else socket.destroy();
}
