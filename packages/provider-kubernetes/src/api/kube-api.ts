import { Agent as HttpsAgent, type RequestOptions, request as httpsRequest } from 'node:https';
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type CallOptions, LitterboxError, untilAborted } from '@litterbox/core/provider';
import { WebSocket } from 'ws';
import { keepAlive } from './keep-alive.ts';
import { failureOf, linesOf, MAX_ANSWER_BYTES, parsed, readBounded } from './api-answer.ts';
import { apiError, ApiFailure, type Asked, isPassing, isStatus } from './api-error.ts';
import { object, text } from './untrusted.ts';
import { type KubeConfigInput, type KubeContext, readKubeConfig } from './kube-config.ts';

const PAGE = 500;
/** Time for one answer. All tries together stay below ten seconds. */
const ANSWER_MS = 8_000;
const TRIES_MS = 4_000;
const FIRST_WAIT_MS = 150;
/** Time for the opening of a websocket. */
const OPEN_MS = 8_000;

export interface ApiRequest extends CallOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Becomes JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
}

/** The API of one cluster, as the user's kubeconfig reaches it. Connects with the first question. */
export class KubeApi {
  readonly #input: KubeConfigInput;
  readonly #closing = new AbortController();
  readonly #agents = [new HttpsAgent({ keepAlive: true }), new HttpAgent({ keepAlive: true })] as const;
  #context: Promise<KubeContext> | undefined;

  constructor(input: Omit<KubeConfigInput, 'closing'>) {
    this.#input = { ...input, closing: this.#closing.signal };
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
   * Asks, once more after a while where the answer is "not now". A server may have made an object and fail all the same: when it says then that it
   * has one of that name, that one is the answer.
   *
   * @returns the answer, as untrusted as the cluster
   * @throws LitterboxError see `meaningOf`, within ten seconds
   */
  async ask(operation: string, path: string, request: ApiRequest = {}): Promise<unknown> {
    let tries = 0;
    const attempt = async () => {
      tries += 1;
      return await this.#askOnce(path, request);
    };
    try {
      return await this.#again(operation, attempt, request);
    } catch (error) {
      const { name } = object(object(request.body)['metadata']);
      if (request.method !== 'POST' || tries === 1 || !name || !isStatus(error, 409)) throw error;
      return await this.ask(operation, `${path}/${text(name)}`, { signal: request.signal });
    }
  }

  /** All things of a kind that have the label and the field, page by page, as untrusted as the cluster. */
  async *list(
    operation: string,
    path: string,
    label: string,
    options?: CallOptions,
    field = '',
  ): AsyncGenerator<unknown, void, undefined> {
    let next = '';
    do {
      const query = new URLSearchParams({
        labelSelector: label,
        limit: String(PAGE),
        ...(field && { fieldSelector: field }),
        ...(next && { continue: next }),
      });
      const { items, metadata } = ((await this.ask(operation, `${path}?${query.toString()}`, { ...options })) ??
        {}) as {
        readonly items?: unknown;
        readonly metadata?: { readonly continue?: unknown };
      };
      if (Array.isArray(items)) yield* items as unknown[];
      next = typeof metadata?.continue === 'string' ? metadata.continue : '';
    } while (next !== '');
  }

  /**
   * Changes of things of the path, as they happen: each line of the cluster's answer. Ends when the cluster ends it, or after `limitMs`: of a
   * connection that is half open nobody would hear.
   */
  async *watch(
    operation: string,
    path: string,
    limitMs: number,
    options?: CallOptions,
  ): AsyncGenerator<unknown, void, undefined> {
    const over = new AbortController();
    const limit = AbortSignal.timeout(limitMs);
    const signal = AbortSignal.any([over.signal, limit, ...(options?.signal ? [options.signal] : [])]);
    try {
      const answer = await this.#send(path, await this.#connection(signal), { signal });
      const status = answer.statusCode ?? 0;
      if (status < 200 || status > 299) throw failureOf(status, await readBounded(answer));
      for await (const line of linesOf(answer)) yield parsed(line);
    } catch (error) {
      options?.signal?.throwIfAborted();
      if (!limit.aborted) throw await this.#errorOf(operation, error);
    } finally {
      over.abort(); // whoever has seen enough holds no connection
    }
  }

  /** A websocket to the path. @param isOnce what is not there yet is told at once. @throws LitterboxError */
  async socket(
    operation: string,
    path: string,
    protocols: readonly string[],
    options?: CallOptions & { readonly isOnce?: boolean },
  ): Promise<WebSocket> {
    return await this.#again(operation, () => this.#openSocket(path, protocols, options), options);
  }

  close(): void {
    this.#closing.abort();
    for (const agent of this.#agents) agent.destroy();
  }

  /** Tries once more after a while where the answer is "not now". */
  async #again<Answer>(
    operation: string,
    attempt: () => Promise<Answer>,
    options?: CallOptions & { readonly isOnce?: boolean },
  ): Promise<Answer> {
    const limit = performance.now() + (options?.isOnce ? 0 : TRIES_MS);
    let mayKnow = true;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs *= 2) {
      try {
        options?.signal?.throwIfAborted();
        return await attempt();
      } catch (error) {
        options?.signal?.throwIfAborted();
        if (mayKnow && error instanceof ApiFailure && error.status === 401) {
          mayKnow = false;
          if (await this.#reload()) continue;
        }
        if (!isPassing(error) || performance.now() + waitMs > limit) throw await this.#errorOf(operation, error);
        await delay(waitMs, undefined, { signal: options?.signal });
      }
    }
  }

  /**
   * Reads the kubeconfig again: a person may have logged in anew since, and what a program gave without a time holds until it is refused.
   *
   * @returns whether it leads to the same place; another one is never asked what this one was asked
   */
  async #reload(): Promise<boolean> {
    const { name, namespace, server } = await this.context();
    const next = await readKubeConfig({ ...this.#input, context: name }).catch(() => undefined);
    if (next?.server !== server || next.namespace !== namespace) return false;
    this.#context = Promise.resolve(next);
    return true;
  }

  async #errorOf(operation: string, error: unknown): Promise<LitterboxError> {
    const { provider } = this.#input;
    const { name: context, namespace, server } = await this.context();
    const asked: Asked = { provider, context, namespace, server };
    return apiError(asked, operation, error);
  }

  /** Own agents, which keep connections; the library's where a proxy is in between. Nobody who has given up waits for a login. */
  async #connection(signal?: AbortSignal): Promise<RequestOptions> {
    const { connection } = await this.context();
    signal?.throwIfAborted();
    const { agent, ...options } = await untilAborted(connection(), signal);
    const isPlain = agent === undefined || agent.constructor === HttpsAgent || agent.constructor === HttpAgent;
    return isPlain ? options : { ...options, agent };
  }

  async #askOnce(path: string, request: ApiRequest): Promise<unknown> {
    const connection = await this.#connection(request.signal); // a login may take longer than an answer
    const limit = AbortSignal.timeout(ANSWER_MS);
    // Nobody gives up a making half way: what undoes it could be faster at the server than what makes it.
    const gaveUp = request.method === 'POST' ? undefined : request.signal;
    const signal = gaveUp ? AbortSignal.any([limit, gaveUp]) : limit;
    try {
      const answer = await this.#send(path, connection, { ...request, signal });
      const content = await readBounded(answer);
      const status = answer.statusCode ?? 0;
      if (status < 200 || status > 299) throw failureOf(status, content);
      request.signal?.throwIfAborted();
      return parsed(content);
    } catch (error) {
      if (!limit.aborted || error instanceof ApiFailure) throw error;
      throw new Error(`no answer within ${ANSWER_MS / 1000} seconds`, { cause: error });
    }
  }

  async #send(
    path: string,
    { headers, ...connection }: RequestOptions,
    { method = 'GET', body, contentType, signal }: ApiRequest,
  ): Promise<IncomingMessage> {
    const { server } = await this.context();
    const url = new URL(server + path);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const isTls = url.protocol === 'https:';
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
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
        signal,
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(text);
    return await promise;
  }

  async #openSocket(path: string, protocols: readonly string[], options?: CallOptions): Promise<WebSocket> {
    const { server } = await this.context();
    const { headers, agent, ...connection } = await this.#connection(options?.signal);
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
    keepAlive(socket);
    return socket;
  }
}

/** Where the API server answers, `HOST:PORT`. @throws LitterboxError as {@link KubeApi.context} */
export async function apiAddress(api: KubeApi): Promise<string> {
  const { hostname, port, protocol } = new URL((await api.context()).server);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
