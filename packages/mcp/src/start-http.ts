import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { LitterboxError } from '@litterbox/core/agent';
import {
  localhostHostValidation,
  localhostOriginValidation,
  type NodeIncomingMessageLike,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { defaultStateDirectory } from 'litterbox/agent';
import { bearerGate } from './bearer-gate.ts';
import { buildServer } from './build-server.ts';
import { isTooDeep, MAX_DEPTH } from './json-depth.ts';
import { makeOffer } from './make-offer.ts';
import type { ServeOptions } from './mcp-options.ts';
import { tokenFrom } from './token-file.ts';
import { UnknownConnections } from './unknown-connections.ts';

const PATH = '/mcp';
const MAX_BODY_BYTES = 64 * 2 ** 20;
const MAX_CONNECTIONS = 256;
/** Of these, so many without the token. */
const MAX_UNKNOWN = 128;
/**
 * Everything comes from this machine: who takes longer to say what it wants holds a connection on purpose. The body of a request
 * may be large. How long a call then takes is not limited here.
 */
const TIMES = { headersTimeout: 5_000, requestTimeout: 60_000, connectionsCheckingInterval: 1_000 };

/** Serves clients over HTTP on the loopback address until it is ended. The URL is said on standard output. */
export async function startHttp(options: ServeOptions): Promise<void> {
  const offer = await makeOffer(options);
  const { tokenFile: asked } = options;
  const tokenFile = asked === undefined ? join(defaultStateDirectory(), 'serve.token') : resolve(asked);
  const handler = createMcpHandler(() => buildServer(offer), {
    maxRequestBodySize: MAX_BODY_BYTES,
    onerror: (error) => console.error(`litterbox serve: ${error.message}`),
  });
  const serve = toNodeHandler({ fetch: withoutDepth(handler) }, { maxRequestBodySize: MAX_BODY_BYTES });
  const isLocalHost = localhostHostValidation(); // a page of the web that points its name here says that name
  const isLocalOrigin = localhostOriginValidation();
  const isAllowed = bearerGate(tokenFrom(tokenFile));
  const server = createServer(TIMES, (request, response) => {
    void (async () => {
      // With a whole address in the first line it, and not the header that is looked at, would say which host is meant.
      if (!request.url?.startsWith('/')) return void response.writeHead(400).end('Want a path, not an address.\n');
      if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return;
      if (!(await isAllowed(request, response))) return;
      unknown.know(request.socket);
      if (new URL(request.url, 'http://localhost').pathname === PATH)
        await serve(request as NodeIncomingMessageLike, response); // a server's request has both method and URL
      else response.writeHead(404, { 'content-type': 'text/plain' }).end(`There is ${PATH} and nothing else.\n`);
    })().catch((error: unknown) => {
      console.error(error);
      response.destroy();
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  const unknown = new UnknownConnections(server, MAX_UNKNOWN);
  server.listen(options.port, '127.0.0.1');
  await Promise.race([
    once(server, 'listening'),
    once(server, 'error').then(([error]: unknown[]) => {
      throw new LitterboxError('UNAVAILABLE', `Port ${options.port} cannot be used: ${String(error)}.`, {
        operation: 'serve.start',
        hint: 'Choose another with --port, or leave it out for a free one.',
      });
    }),
  ]);
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}${PATH}\n`);
  process.stderr.write(`Clients send "Authorization: Bearer TOKEN" with the token in ${tokenFile}.\n`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await offer.litterbox[Symbol.asyncDispose](); // takes back the calls that go on; what they did is recorded before they end
  await handler.close();
  server.close();
  server.closeAllConnections();
}

type Handler = ReturnType<typeof createMcpHandler>;

/** Answers a body that is nested too deep by itself: nothing behind this parses it. */
function withoutDepth(handler: Handler): Handler['fetch'] {
  return async (request, options) => {
    if (request.body === null) return await handler.fetch(request, options);
    const body = new Uint8Array(await request.arrayBuffer());
    if (isTooDeep(body)) {
      const message = `A message has more than ${MAX_DEPTH} levels of objects and arrays.`;
      return Response.json({ jsonrpc: '2.0', error: { code: -32600, message }, id: null }, { status: 400 });
    }
    const { url, method, headers, signal } = request;
    return await handler.fetch(new Request(url, { method, headers, signal, body }), options);
  };
}
