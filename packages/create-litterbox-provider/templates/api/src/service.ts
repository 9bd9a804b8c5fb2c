import { request as askHttp } from 'node:http';
import { request as askHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { type CallOptions, LitterboxError, visibleName } from '@litterbox/core/provider';

/** A machine, as the service lists it. */
export interface Machine {
  readonly name: string;
}

/** Where the service is, and who asks. */
export interface ServiceAccess {
  /** Such as `https://api.example.com`. */
  readonly url: string;
  readonly token: string;
  /** The provider's key, for errors. */
  readonly provider: string;
}

/** The service over its API: machines are made, listed, ended, and start a command. `fake/service.ts` has the other side. */
export class Service {
  readonly #access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.#access = access;
  }

  /** @throws LitterboxError `ALREADY_EXISTS`, `UNAVAILABLE` */
  async make(
    machine: { readonly name: string; readonly memoryBytes?: number; readonly cpus?: number },
    call?: CallOptions,
  ) {
    await this.#ask('POST', '/machines', machine, call);
  }

  async list(call?: CallOptions): Promise<readonly Machine[]> {
    return (await this.#ask('GET', '/machines', undefined, call)) as readonly Machine[];
  }

  /** Ends all that runs there and frees its disk. One that is gone is fine. */
  async end(name: string, call?: CallOptions): Promise<void> {
    await this.#ask('DELETE', `/machines/${name}`, undefined, call);
  }

  /** A connection that belongs to one command from then on: see `frames.ts`. @throws LitterboxError `NOT_FOUND`, `UNAVAILABLE` */
  async exec(name: string, call?: CallOptions): Promise<Duplex> {
    const { url, token } = this.#access;
    const ask = url.startsWith('https:') ? askHttps : askHttp;
    const headers = { authorization: `Bearer ${token}`, connection: 'Upgrade', upgrade: 'machine-exec' };
    return await new Promise<Duplex>((resolve, reject) => {
      ask(`${url}/machines/${name}/exec`, { method: 'POST', headers, ...call })
        .once('upgrade', (_answer, socket, head) => {
          if (head.length > 0) socket.unshift(head);
          resolve(socket);
        })
        .once('response', (answer) => {
          answer.resume();
          reject(this.#refused('POST', `/machines/${name}/exec`, answer.statusCode ?? 0));
        })
        .once('error', (error) => reject(call?.signal?.aborted ? call.signal.reason : this.#unreached(error)))
        .end();
    });
  }

  async #ask(method: string, path: string, body: unknown, call?: CallOptions): Promise<unknown> {
    const { url, token } = this.#access;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(call?.signal && { signal: call.signal }),
    }).catch((error: unknown) => {
      call?.signal?.throwIfAborted();
      throw this.#unreached(error);
    });
    const text = await answer.text();
    if (answer.ok) return text === '' ? undefined : JSON.parse(text);
    if (method === 'DELETE' && answer.status === 404) return undefined;
    throw this.#refused(method, path, answer.status);
  }

  #refused(method: string, path: string, status: number): LitterboxError {
    const code = status === 404 ? 'NOT_FOUND' : status === 409 ? 'ALREADY_EXISTS' : 'UNAVAILABLE';
    return new LitterboxError(code, `The service answered ${method} ${path} with ${status}.`, {
      operation: 'provider.ask',
      provider: this.#access.provider,
      hint: status === 401 ? 'Check MACHINES_TOKEN.' : 'Look at the machine in the service, then try again.',
    });
  }

  #unreached(error: unknown): LitterboxError {
    const { url, provider } = this.#access;
    return new LitterboxError(
      'UNAVAILABLE',
      `The service at ${url} does not answer: ${visibleName(reasonOf(error))}.`,
      { operation: 'provider.ask', provider, hint: 'Check MACHINES_URL and the network.' },
      { cause: error },
    );
  }
}

/** `fetch` itself says that it failed, and its cause says why. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: Error };
  return cause?.message ?? message;
}
