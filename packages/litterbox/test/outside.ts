import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { networkGate, type NetworkGateOptions } from '@litterbox/network-gate';
import type { LitterboxParts } from '../src/litterbox-options.ts';

/** A server of the Internet that answers under every name, and the gate that finds it there. All of it is on this machine's loopback. */
export interface Outside extends AsyncDisposable {
  readonly networkGate: LitterboxParts['networkGate'];
  /** Names that were looked up. */
  readonly looked: string[];
}

/**
 * @param answers what the server says to the first bytes: more is sent to it only after that
 * @param address what names lead to
 */
export async function outside(
  limits: Partial<NetworkGateOptions> = {},
  answers = '',
  address = '1.1.1.1',
): Promise<Outside> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('data', () => {});
    if (answers !== '') socket.once('data', () => socket.write(answers));
    socket.on('end', () => socket.end('hello from outside\n'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const looked: string[] = [];
  const clock = {
    wallMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    sleep: (_ms: number, options?: { readonly signal?: AbortSignal | undefined }) =>
      new Promise<void>((_resolve, reject) => options?.signal?.addEventListener('abort', () => reject(new Error()))),
  };
  return {
    looked,
    networkGate: networkGate({
      ...limits,
      clock,
      reach: {
        resolve: async (host) => {
          looked.push(host);
          return [address];
        },
        dial: async () => {
          const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
          await once(socket, 'connect');
          return socket;
        },
      },
    }),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** `sh ask.sh NAME [HELLO]` says what the server of that name says through the proxy, with the first bytes of TLS for HELLO. */
export const ASK = `{ printf 'CONNECT %s:443 HTTP/1.1\\r\\nHost: %s:443\\r\\n\\r\\n' "$1" "$1"; base64 -d "hello-\${2:-$1}"; } >/tmp/asked
if command -v perl >/dev/null; then
exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("127.0.0.1:3128") or die "no way out: $!\\n"; open F, "/tmp/asked"; local $/; print $s <F>; shutdown $s, 1; print <$s>'
else exec nc 127.0.0.1 3128 </tmp/asked; fi
`;

/** What a program of TLS says first to the server of that name, in base64. */
export async function hello(servername: string): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connectTls({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', servername });
  client.on('error', () => {});
  const [socket] = (await once(server, 'connection')) as [Socket];
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  client.destroy();
  socket.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return `${bytes.toString('base64')}\n`;
}
