import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import type { Duplex } from 'node:stream';
import { join } from 'node:path';
import { KubeApi } from '../src/api/kube-api.ts';
import { kubeconfig } from './fake-cluster.ts';

/** An answer of the door in place of the cluster's: a status, after the cluster has done what was asked or before; nothing at all; a cut line. */
export type Fault = { readonly status: number; readonly isDone?: boolean } | 'silence' | 'cut';

/**
 * The tests' own cluster behind a door that notes what is asked: `POST pods`, `exec sandbox`, `watch pods`. It goes with `using`.
 *
 * @param fault asked for each question with the words of it and how often it was asked before
 */
export async function countedCluster(fault: (word: string, before: number) => Fault | undefined = () => undefined) {
  const asked: string[] = [];
  const open = new Set<Duplex>();
  const faultOf = (word: string) => fault(word, asked.filter((one) => one === word).length);
  const api = new KubeApi({ provider: 'kubernetes', environment: process.env, homeDirectory: '/nowhere' });
  const { server: address, connection, namespace } = await api.context();
  const options = async ({ method, url, headers }: IncomingMessage): Promise<[URL, RequestOptions]> => {
    const { headers: own, ...rest } = await connection();
    const { host: _host, authorization: _none, ...others } = headers;
    return [
      new URL(address + (url ?? '')),
      { ...rest, agent: false, method, headers: { ...others, ...(own as Record<string, string>) } },
    ];
  };
  const door = createServer((request, response) => {
    const word = wordOf(request);
    const instead = faultOf(word);
    asked.push(word);
    if (instead === 'silence') return response.writeHead(200).flushHeaders();
    if (instead === 'cut') return void response.destroy();
    const refuse = () =>
      response
        .writeHead(instead?.status ?? 500, { 'content-type': 'application/json' })
        .end('{"message":"by the door"}');
    if (instead && !instead.isDone) return refuse();
    void options(request).then(([url, rest]) => {
      const passed = httpsRequest(url, rest, (answer) => {
        if (instead) return void answer.resume().on('end', refuse);
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      request.pipe(passed);
    });
  });
  door.on('upgrade', (request, socket, head) => {
    const instead = faultOf(wordOf(request));
    if (typeof instead === 'object') {
      asked.push(wordOf(request));
      return socket.end(`HTTP/1.1 ${instead.status} No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    }
    open.add(socket);
    void options(request).then(([url, rest]) => {
      const passed = httpsRequest(url, rest);
      passed.on('error', () => socket.destroy());
      passed.on('response', (answer) => {
        socket.write(`HTTP/1.1 ${answer.statusCode} No\r\nconnection: close\r\n\r\n`);
        answer.pipe(socket);
      });
      passed.on('upgrade', (answer, other, first) => {
        asked.push(wordOf(request)); // one that came too early starts nothing
        const lines = answer.rawHeaders.flatMap((name, at) =>
          at % 2 ? [] : [`${name}: ${answer.rawHeaders[at + 1]}`],
        );
        socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
        socket.write(first);
        other.write(head);
        for (const [one, two] of [[socket, other] as const, [other, socket] as const]) {
          one.pipe(two);
          one.on('error', () => two.destroy());
          one.on('close', () => two.destroy());
        }
      });
      passed.end();
    });
  });
  await new Promise<void>((resolve) => {
    door.listen(0, '127.0.0.1', resolve);
  });
  const directory = await mkdtemp(join(tmpdir(), 'litterbox-kubeconfig-'));
  const file = join(directory, 'config');
  const text = kubeconfig(`http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  await writeFile(file, text.replace('namespace: team', `namespace: ${namespace}`));
  return {
    asked,
    file,
    /** Cuts all websockets. */
    cut: () => open.forEach((socket) => socket.destroy()),
    async [Symbol.asyncDispose]() {
      api.close();
      door.closeAllConnections();
      door.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function wordOf({ method = '', url = '' }: IncomingMessage): string {
  const { pathname, searchParams } = new URL(url, 'http://door');
  const [, kind = pathname, , sub] = /\/namespaces\/[^/]+\/([^/]+)(\/[^/]+)?(?:\/([^/]+))?/.exec(pathname) ?? [];
  if (sub === 'exec') return `exec ${searchParams.get('container')}`;
  if (searchParams.get('fieldSelector')?.startsWith('spec.nodeName=')) return `GET ${kind} of a node`;
  return `${searchParams.has('watch') ? 'watch' : method} ${kind}`;
}
