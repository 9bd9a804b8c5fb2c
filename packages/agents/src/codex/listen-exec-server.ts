import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ExecServer } from './exec-server.ts';
import { MAX_MESSAGE_BYTES } from './messages.ts';

/** More is not handed to a connection before it took that. */
const MAX_BUFFERED_BYTES = 4 * 2 ** 20;

/** An exec server on loopback. */
export interface ListeningExecServer extends AsyncDisposable {
  /** Whoever has it may use the server: its path is the token, because not every Codex can send one in a header. */
  readonly url: string;
}

/** Serves WebSockets on a free port of 127.0.0.1, to whoever has the address. */
export async function listenExecServer(exec: ExecServer): Promise<ListeningExecServer> {
  const token = randomBytes(32).toString('base64url');
  const server = createServer((_request, response) => response.writeHead(404).end());
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false });
  server.on('upgrade', (request, socket, head) => {
    // A page in the person's browser names its origin; Codex names none.
    if (request.headers.origin === undefined && isFor(request, token))
      sockets.handleUpgrade(request, socket, head, (opened) => serve(exec, opened));
    else socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}/${token}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      server.close();
      await exec.close();
    },
  };
}

function serve(exec: ExecServer, socket: WebSocket): void {
  const connection = exec.connect(async (message) => {
    if (socket.readyState !== socket.OPEN) return;
    const sent = new Promise<void>((resolve) => socket.send(JSON.stringify(message), () => resolve()));
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) await sent;
  });
  socket.on('message', (data, isBinary) => {
    if (isBinary) return socket.close(1003, 'text alone');
    socket.pause();
    void connection
      .receive((data as Buffer).toString('utf8'))
      .catch(() => socket.terminate())
      .finally(() => socket.resume());
  });
  socket.on('error', () => socket.terminate());
  socket.on('close', () => connection.closed());
}

const digest = (text: string) => createHash('sha256').update(text).digest();

function isFor({ url = '' }: IncomingMessage, token: string): boolean {
  return timingSafeEqual(digest(url), digest(`/${token}`));
}
