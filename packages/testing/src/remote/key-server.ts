import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCertificate } from './make-certificate.ts';

/** A service on loopback, over TLS, that answers whoever has its key. */
export interface KeyServer extends AsyncDisposable {
  /** `https://localhost:PORT` */
  readonly url: string;
  /** In PEM: who trusts it trusts the server. */
  readonly certificate: string;
  /** `METHOD URL STATUS` of each request. */
  readonly heard: string[];
}

/** @param header the name of the header in which it wants the key, whole */
export async function keyServer(key: string, header = 'x-api-key'): Promise<KeyServer> {
  const certificate = makeCertificate();
  const heard: string[] = [];
  const server = createServer(certificate, (request, response) => {
    const isIn = request.headers[header] === key;
    heard.push(`${request.method} ${request.url} ${isIn ? 200 : 401}`);
    let size = 0;
    request.on('data', (bytes: Buffer) => (size += bytes.length));
    request.on('end', () =>
      response.writeHead(isIn ? 200 : 401).end(`${isIn ? 'welcome' : 'who are you'}, ${size} bytes\n`),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    certificate: certificate.cert,
    heard,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
