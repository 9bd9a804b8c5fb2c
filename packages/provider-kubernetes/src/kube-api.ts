import { Agent as HttpsAgent, type RequestOptions, request as httpsRequest } from 'node:https';
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type CallOptions, LitterboxError } from '@litterbox/core/provider';
import { WebSocket } from 'ws';
import { ApiFailure, apiError, type Asked, isPassing } from './api-error.ts';
import { type KubeConfigInput, type KubeContext, readKubeConfig } from './kube-config.ts';

/** A list of 500 pods is smaller; nothing of a cluster is believed without a bound. */
const MAX_ANSWER_BYTES = 32 * 2 ** 20;
/** Time for one answer. All tries together stay below ten seconds. */
const ANSWER_MS = 8_000;
const TRIES_MS = 4_000;
const FIRST_WAIT_MS = 150;
/** Times of a websocket: its opening, and the silence after which it is dead. */
const OPEN_MS = 8_000;
const BEAT_MS = 15_000;

export interface ApiRequest extends CallOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Becomes JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
}

/** The API of one cluster, as the user's kubeconfig reaches it. Connects with the first question. */
export class KubeApi {
  readonly #input: KubeConfigInput;
  readonly #agents = [new HttpsAgent({ keepAlive: true }), new HttpAgent({ keepAlive: true })] as const;
  #context: Promise<KubeContext> | undefined;

  constructor(input: KubeConfigInput) {
    this.#input = input;
  }

  /** @throws LitterboxError as {@link readKubeConfig} */
  async context(): Promise<KubeContext> {
    this.#context ??= readKubeConfig(this.#input).catch((error: unknown) => {
      this.#context = undefined;
      throw error;
    });
    return await this.#context;
  }

  /** Path of things of the namespace: `pods`, `pods/NAME`. */
  async pathOf(rest: string, group = 'api/v1'): Promise<string> {
    const { namespace } = await this.context();
    return `/${group}/namespaces/${encodeURIComponent(namespace)}/${rest}`;
  }

  /**
   * Asks, once more after a while where the answer is "not now".
   *
   * @returns the answer, as untrusted as the cluster
   * @throws LitterboxError see `meaningOf`, within ten seconds
   */
  async ask(operation: string, path: string, request: ApiRequest = {}): Promise<unknown> {
    return await this.#again(operation, () => this.#askOnce(path, request), request);
  }

  /** A websocket to the path. @throws LitterboxError */
  async socket(
    operation: string,
    path: string,
    protocols: readonly string[],
    options?: CallOptions,
  ): Promise<WebSocket> {
    return await this.#again(operation, () => this.#openSocket(path, protocols, options), options);
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }

  /** Tries once more after a while where the answer is "not now". */
  async #again<Answer>(operation: string, attempt: () => Promise<Answer>, options?: CallOptions): Promise<Answer> {
    const limit = performance.now() + TRIES_MS;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs *= 2) {
      try {
        options?.signal?.throwIfAborted();
        return await attempt();
      } catch (error) {
        options?.signal?.throwIfAborted();
        if (!isPassing(error) || performance.now() + waitMs > limit) throw await this.#errorOf(operation, error);
        await delay(waitMs, undefined, { signal: options?.signal });
      }
    }
  }

  async #errorOf(operation: string, error: unknown): Promise<LitterboxError> {
    const { provider } = this.#input;
    const { name: context, namespace, server } = await this.context();
    const asked: Asked = { provider, context, namespace, server };
    return apiError(asked, operation, error);
  }

  /** Own agents, which keep connections; the library's where a proxy is in between. */
  async #connection(): Promise<RequestOptions> {
    const { connection } = await this.context();
    const { agent, ...options } = await connection();
    const isPlain = agent === undefined || agent.constructor === HttpsAgent || agent.constructor === HttpAgent;
    return isPlain ? options : { ...options, agent };
  }

  async #askOnce(path: string, { method = 'GET', body, contentType, signal }: ApiRequest): Promise<unknown> {
    const { server } = await this.context();
    const url = new URL(server + path);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const { headers, ...connection } = await this.#connection();
    const isTls = url.protocol === 'https:';
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const limit = AbortSignal.timeout(ANSWER_MS);
    const sent = (isTls ? httpsRequest : httpRequest)(
      url,
      {
        agent: this.#agents[isTls ? 0 : 1],
        ...connection,
        method,
        headers: {
          ...(headers as Record<string, string>),
          accept: 'application/json',
          ...(text !== undefined && {
            'content-type': contentType ?? 'application/json',
            'content-length': Buffer.byteLength(text),
          }),
        },
        signal: signal ? AbortSignal.any([limit, signal]) : limit,
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(text);
    const answer = await promise;
    const content = await readBounded(answer);
    const status = answer.statusCode ?? 0;
    if (status < 200 || status > 299) throw failureOf(status, content);
    return parsed(content);
  }

  async #openSocket(path: string, protocols: readonly string[], options?: CallOptions): Promise<WebSocket> {
    const { server } = await this.context();
    const { headers, agent, ...connection } = await this.#connection();
    const socket = new WebSocket(server.replace(/^http/, 'ws') + path, [...protocols], {
      ...(connection as object),
      ...(agent instanceof Object && { agent }),
      headers: headers as Record<string, string>,
      handshakeTimeout: OPEN_MS,
      followRedirects: false,
      perMessageDeflate: false,
      maxPayload: MAX_ANSWER_BYTES,
    });
    const abort = () => socket.terminate();
    options?.signal?.addEventListener('abort', abort, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('open', resolve);
        socket.once('error', reject);
        socket.once('unexpected-response', (_request, answer) => {
          readBounded(answer).then(
            (text) => reject(failureOf(answer.statusCode ?? 0, text)),
            (error: unknown) => reject(error as Error),
          );
        });
      });
    } catch (error) {
      socket.on('error', () => {});
      socket.terminate();
      throw error;
    } finally {
      options?.signal?.removeEventListener('abort', abort);
    }
    socket.on('error', () => {}); // its end is what counts
    watch(socket);
    return socket;
  }
}

/** Ends a websocket whose other end does not answer any more: nobody else would notice. */
function watch(socket: WebSocket): void {
  let isAnswered = true;
  const beat = setInterval(() => {
    // While we do not read, its answers wait behind what it sent.
    if (!isAnswered && !socket.isPaused) return socket.terminate();
    isAnswered = false;
    socket.ping(() => {});
  }, BEAT_MS);
  beat.unref();
  const hear = () => {
    isAnswered = true;
  };
  socket.on('pong', hear);
  socket.on('message', hear);
  socket.once('close', () => clearInterval(beat));
}

async function readBounded(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) {
      answer.destroy();
      throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function failureOf(status: number, text: string): ApiFailure {
  try {
    const { reason, message } = JSON.parse(text) as { readonly reason?: unknown; readonly message?: unknown };
    return new ApiFailure(
      status,
      typeof reason === 'string' ? reason : '',
      typeof message === 'string' ? message : text,
    );
  } catch {
    return new ApiFailure(status, '', text.trim() === '' ? 'no reason given' : text);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error('an answer that is no JSON');
  }
}
