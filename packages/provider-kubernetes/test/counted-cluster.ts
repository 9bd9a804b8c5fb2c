import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeApi } from '../src/api/kube-api.ts';
import { kubeconfig } from './fake-cluster.ts';

/** The tests' own cluster behind a door that notes what is asked: `POST pods`, `exec sandbox`, `watch pods`. It goes with `using`. */
export async function countedCluster() {
  const asked: string[] = [];
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
    asked.push(wordOf(request));
    void options(request).then(([url, rest]) => {
      const passed = httpsRequest(url, rest, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      request.pipe(passed);
    });
  });
  door.on('upgrade', (request, socket, head) => {
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
  return `${searchParams.has('watch') ? 'watch' : method} ${kind}`;
}
