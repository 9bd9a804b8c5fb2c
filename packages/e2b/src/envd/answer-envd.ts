import type { IncomingMessage, ServerResponse } from 'node:http';
import { LitterboxError } from 'litterbox';
import { type Failure, failureOf } from '../door/failure.ts';
import type { Keys } from '../door/keys.ts';
import { readBody } from '../door/read-body.ts';
import { sendJson } from '../door/send-json.ts';
import type { SandboxBook } from '../sandbox-book.ts';
import type { ServedSandbox } from '../served-sandbox.ts';
import { AnswerStream, openEnvelope } from './envelope.ts';
import { FILESYSTEM_CALLS } from './filesystem-service.ts';
import { sendFile, takeFiles } from './http-files.ts';
import { PROCESS_CALLS, PROCESS_STREAMS, type StreamCall } from './process-service.ts';
import { watchDir } from './watch-dir.ts';

const MAX_BODY_BYTES = 16 * 2 ** 20;
const CALLS = { 'process.Process': PROCESS_CALLS, 'filesystem.Filesystem': FILESYSTEM_CALLS } as const;
const STREAMS: Readonly<Record<string, Readonly<Record<string, StreamCall>>>> = {
  'process.Process': PROCESS_STREAMS,
  'filesystem.Filesystem': { WatchDir: watchDir },
};
const [JSON_CALL, JSON_STREAM] = ['application/json', 'application/connect+json'];
/** The one user of a sandbox, by the protocol's name for it. */
const USER = 'user';

/** The half of the protocol that is served from inside a sandbox elsewhere: its files and processes. Whoever has its token may ask. */
export class AnswerEnvd {
  readonly #book: SandboxBook;
  readonly #keys: Keys;

  constructor(book: SandboxBook, keys: Keys) {
    this.#book = book;
    this.#keys = keys;
  }

  async answer(request: IncomingMessage, response: ServerResponse, url: URL, signal: AbortSignal): Promise<void> {
    const isStream = request.headers['content-type'] === JSON_STREAM;
    try {
      const id = this.#sandboxOf(request, url);
      if (id === undefined)
        return sendJson(response, 401, { code: 'unauthenticated', message: 'Want the token of a sandbox.' });
      assertUser(request, url);
      const served = await this.#book.awake(id, signal);
      await this.#answerIn(served, { request, response, url, signal });
    } catch (error) {
      if (response.headersSent) return void response.destroy();
      const failure = failureOf(error);
      if (isStream) new AnswerStream(response).end(failure);
      else sendFailure(response, failure, url.pathname);
    }
  }

  /** The sandbox that a request names, and shows a token of; or one whose token signed its address. */
  #sandboxOf({ method, headers }: IncomingMessage, { pathname, searchParams }: URL): string | undefined {
    const id = headers['e2b-sandbox-id'];
    if (typeof id === 'string') return this.#keys.isToken(id, headers['x-access-token']) ? id : undefined;
    if (pathname !== '/files') return undefined;
    const operation = method === 'GET' ? 'read' : 'write';
    for (const served of this.#book.known)
      if (this.#keys.isSigned(served.id, operation, searchParams, Date.now())) return served.id;
    return undefined;
  }

  async #answerIn(
    served: ServedSandbox,
    {
      request,
      response,
      url,
      signal,
    }: { request: IncomingMessage; response: ServerResponse; url: URL; signal: AbortSignal },
  ): Promise<void> {
    const { method = '' } = request;
    const { pathname, searchParams } = url;
    if (method === 'GET' && pathname === '/health') return sendJson(response, 204);
    if (method === 'GET' && pathname === '/files') return await sendFile(served, searchParams, response, signal);
    if (method === 'POST' && pathname === '/files')
      return await takeFiles(served, searchParams, { request, response, signal });
    const [, service = '', name = '', ...rest] = pathname.split('/');
    const type = request.headers['content-type'];
    const stream = own(STREAMS[service], name);
    const call =
      service === 'process.Process' || service === 'filesystem.Filesystem' ? own(CALLS[service], name) : undefined;
    if (method !== 'POST' || rest.length > 0 || !(stream ?? call))
      throw new LitterboxError('UNSUPPORTED', `${method} ${pathname} is not served here.`, { operation: 'e2b.call' });
    if (type !== (stream ? JSON_STREAM : JSON_CALL))
      throw new LitterboxError('UNSUPPORTED', `The content type ${JSON.stringify(type)} is not read here.`, {
        operation: 'e2b.call',
        hint: `Send ${stream ? JSON_STREAM : JSON_CALL}.`,
      });
    const body = await readBody(request, MAX_BODY_BYTES);
    if (call) return sendJson(response, 200, await call(served, body, signal));
    await stream?.(served, openEnvelope(body), streamCall(request, response));
  }
}

/** A name of the web is never one that every object has. */
const own = <Value>(table: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined =>
  table && Object.hasOwn(table, name) ? table[name] : undefined;

/** Keeps a stream alive while nothing happens, as often as the client asks. */
function streamCall({ headers }: IncomingMessage, response: ServerResponse): Parameters<StreamCall>[2] {
  const limit = Number(headers['connect-timeout-ms']);
  const seconds = Number(headers['keepalive-ping-interval']);
  return {
    timeoutMs: Number.isSafeInteger(limit) && limit > 0 && limit < 2 ** 31 ? limit : undefined,
    open() {
      const stream = new AnswerStream(response);
      const everyMs = seconds >= 1 && seconds <= 3_600 ? seconds * 1000 : 60_000;
      const timer = setInterval(() => void stream.keepAlive(), everyMs).unref();
      response.once('close', () => clearInterval(timer));
      return stream;
    },
    onGone: (leave) => void response.once('close', leave),
  };
}

/** Everything runs as the one user of the sandbox. @throws LitterboxError `UNSUPPORTED` for any other */
function assertUser({ headers }: IncomingMessage, { searchParams }: URL): void {
  const basic = /^Basic ([A-Za-z0-9+/=]+)$/.exec(headers.authorization ?? '')?.[1];
  const asked = basic === undefined ? (searchParams.get('username') ?? '') : Buffer.from(basic, 'base64').toString();
  const [name] = asked.split(':');
  if (name === '' || name === USER) return;
  throw new LitterboxError('UNSUPPORTED', `The user ${JSON.stringify(name)} is not there.`, {
    operation: 'e2b.call',
    hint: 'Leave the user out: everything runs as the one user of the sandbox.',
  });
}

function sendFailure(response: ServerResponse, { status, code, message }: Failure, path: string): void {
  const isFile = path === '/files' || path === '/health';
  sendJson(response, status, isFile ? { code: status, message } : { code, message });
}
