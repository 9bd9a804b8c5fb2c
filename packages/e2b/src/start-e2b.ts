import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Litterbox, LitterboxError } from 'litterbox';
import { AnswerControl } from './control/answer-control.ts';
import { refusalOf } from './door/check-request.ts';
import { Keys } from './door/keys.ts';
import { sendJson } from './door/send-json.ts';
import { AnswerEnvd } from './envd/answer-envd.ts';
import { SandboxBook } from './sandbox-book.ts';

/** How sandboxes are served by E2B's protocol. */
export interface E2bOptions {
  /** Makes the sandboxes, and has them. It stays open when the server is disposed of. */
  readonly litterbox: Litterbox;
  /** Lets programs make, use and delete sandboxes; at least 32 characters. */
  readonly key: string;
  /** On 127.0.0.1. @defaultValue a free one */
  readonly port?: number | undefined;
  /** Hears of a sandbox that could not be ended at the end of its time. It is tried again. */
  readonly onProblem?: (error: unknown) => void;
}

/** A server that runs. Disposing ends what runs in the sandboxes; the sandboxes stay. */
export interface E2bServer extends AsyncDisposable {
  /** The value of both E2B_API_URL and E2B_SANDBOX_URL. */
  readonly url: string;
}

const MIN_KEY_CHARACTERS = 32;
/** A client keeps up to 200 connections for processes alone. */
const MAX_CONNECTIONS = 1_024;
/** Everything comes from this machine: who takes longer to say what it wants holds a connection on purpose. */
const TIMES = {
  headersTimeout: 5_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 60_000,
};
const CONTROL = /^\/(?:(?:v2\/)?sandboxes|snapshots|templates)(?:\/|$)/;

/** Serves E2B's protocol on the loopback address until it is disposed of. @throws LitterboxError `ARG_RANGE`, `PORT_TAKEN`, `UNAVAILABLE` */
export async function startE2b({ litterbox, key, port = 0, onProblem = () => {} }: E2bOptions): Promise<E2bServer> {
  if (key.length < MIN_KEY_CHARACTERS)
    throw new LitterboxError('ARG_RANGE', `key: want at least ${MIN_KEY_CHARACTERS} characters.`, {
      operation: 'e2b.start',
    });
  const keys = new Keys(key);
  const book = new SandboxBook(litterbox, onProblem);
  let own = port;
  const control = new AnswerControl(book, keys, () => own);
  const envd = new AnswerEnvd(book, keys);
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const refusal = refusalOf(request, own);
    if (refusal !== undefined) return refuse(response, 403, refusal);
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('The client has gone.')));
    const url = new URL(request.url ?? '', 'http://localhost');
    if (!CONTROL.test(url.pathname)) return await envd.answer(request, response, url, gone.signal);
    if (!keys.isKey(request.headers['x-api-key']))
      return refuse(response, 401, 'Want the key of the server in X-API-KEY: E2B_API_KEY of the client.');
    await control.answer(request, response, url, gone.signal);
  };
  await book.list(); // a repository that cannot be served is told at once, and signatures find what is there
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
      { operation: 'e2b.start', hint: 'Choose another, or leave it out for a free one.' },
      { cause },
    );
  });
  own = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${own}`,
    async [Symbol.asyncDispose]() {
      server.close();
      await book[Symbol.asyncDispose]();
      server.closeAllConnections();
    },
  };
}

/** Nothing of the body has been read by then, and nothing will be. */
function refuse(response: ServerResponse, code: number, message: string): void {
  sendJson(response, code, { code, message }, { connection: 'close' });
}
