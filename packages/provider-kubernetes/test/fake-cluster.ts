import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { KubeApi } from '../src/api/kube-api.ts';

/** Behaviour of a {@link fakeCluster}; the real ones that can be had here speak no v5, and fail when they like. */
export interface FakeCluster {
  /** Answers a question. @defaultValue 404 */
  answer?(request: IncomingMessage, response: ServerResponse): void;
  /** Plays the program. */
  exec?(socket: WebSocket, request: IncomingMessage): void;
  /** The protocol that it speaks. */
  readonly protocol?: string;
}

export const TOKEN = 'token-that-nobody-may-see';

/** An API server of the tests' own on loopback, and a client by a kubeconfig. It goes with `using`. */
export async function fakeCluster(cluster: FakeCluster) {
  const server = createServer((request, response) => {
    if (cluster.answer) cluster.answer(request, response);
    else response.writeHead(404).end('{}');
  });
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) =>
      [...offered].find((one) => one === (cluster.protocol ?? 'v4.channel.k8s.io')) ?? false,
  });
  server.on('upgrade', (request, socket, head) => {
    if (!cluster.exec) return socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
    sockets.handleUpgrade(request, socket, head, (one) => cluster.exec?.(one, request));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubeconfig-'));
  const file = join(directory, 'config');
  await writeFile(file, kubeconfig(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  const api = new KubeApi({ provider: 'kubernetes', environment: { KUBECONFIG: file }, homeDirectory: '/nowhere' });
  return {
    api,
    file,
    async [Symbol.asyncDispose]() {
      api.close();
      for (const one of sockets.clients) one.terminate();
      server.closeAllConnections();
      server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A kubeconfig with one context, `staging`. */
export const kubeconfig = (server: string): string => `apiVersion: v1
kind: Config
current-context: staging
clusters: [{name: c, cluster: {server: '${server}', insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: ${TOKEN}}}]
contexts: [{name: staging, context: {cluster: c, user: u, namespace: team}}]
`;
