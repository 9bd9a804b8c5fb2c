import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LitterboxError } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';
import { AnswerApi, sendJson } from './answer-api.ts';
import { API, bearerOf, checkRequest } from './door/check-request.ts';
import { COMMON_HEADERS } from './door/common-headers.ts';
import { readPageFiles } from './door/page-files.ts';
import { SessionTokens } from './door/session-tokens.ts';

/** The subject of the page, and its address. */
export interface ReviewOptions {
  /** Its approver has to say no: the page asks by itself, and a yes comes with the decision. */
  readonly litterbox: Performer;
  /** The one sandbox that the page is about. @defaultValue all of the repository */
  readonly sandbox?: string | undefined;
  /** On 127.0.0.1. @defaultValue a free one */
  readonly port?: number | undefined;
  /** Hears that a link was used; another one opens another window. */
  readonly onOpened?: () => void;
}

/** A page that is served. */
export interface Review extends AsyncDisposable {
  /** A link that opens the page once. */
  link(): string;
}

const MAX_CONNECTIONS = 64;
/** Everything comes from this machine: who takes longer to say what it wants holds a connection on purpose. */
const TIMES = { headersTimeout: 5_000, requestTimeout: 30_000, connectionsCheckingInterval: 1_000 };

/** Serves the page on the loopback address until it is disposed of. */
export async function startReview({ litterbox, sandbox, port = 0, onOpened }: ReviewOptions): Promise<Review> {
  const files = await readPageFiles();
  const tokens = new SessionTokens();
  const api = new AnswerApi(litterbox, sandbox);
  let authority = '';
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    for (const [name, value] of Object.entries(COMMON_HEADERS)) response.setHeader(name, value);
    const refusal = checkRequest(request, authority);
    if (refusal) return sendText(response, refusal.status, refusal.text);
    const url = new URL(request.url ?? '', `http://${authority}`);
    if (!url.pathname.startsWith(API)) {
      const file = files.get(url.pathname);
      if (!file) return sendText(response, 404, 'There is no such file.');
      return void response.writeHead(200, { 'content-type': file.type }).end(file.bytes);
    }
    const bearer = bearerOf(request);
    if (url.pathname === `${API}session` && request.method === 'POST') {
      const session = tokens.exchange(bearer ?? '');
      if (session === undefined) return sendText(response, 401, 'This link was used, or is none.');
      onOpened?.();
      return sendJson(response, 200, { session, sandbox });
    }
    if (bearer === undefined || !tokens.isSession(bearer))
      return sendText(response, 401, 'Want the token of a session.');
    await api.answer(request, response, url);
  };
  const server = createServer(TIMES, (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const isTaken = cause.code === 'EADDRINUSE';
    throw new LitterboxError(
      isTaken ? 'PORT_TAKEN' : 'UNAVAILABLE',
      `Port ${port} ${isTaken ? 'is taken' : `cannot be used: ${cause.message}`}.`,
      { operation: 'review.start', hint: 'Choose another with --port, or leave it out for a free one.' },
      { cause },
    );
  });
  authority = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    link: () => `http://${authority}/#${tokens.newLink()}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const sendText = (response: ServerResponse, status: number, text: string): void =>
  void response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
