import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { type CallOptions, LitterboxError, type ProviderKey } from '@litterbox/core/provider';
import type { EngineAddress } from '../address/engine-address.ts';
import { OpenedMachines } from '../address/opened-machines.ts';
import { type EngineClient, type EngineWay, openClient } from './engine-client.ts';
import { answerOf, engineError, type EngineWords } from './engine-error.ts';
import { EngineWatch } from './engine-watch.ts';
import { ping } from './ping.ts';

export type EngineInput = EngineWords & EngineWay;

/** How long the engine may take to say that it is there: who waits shall know within ten seconds that it is not. */
export const PRESENCE_MS = 8_000;
/** How long it may take to answer a question. Each can wait for a disk that is busy with something else. */
const ANSWER_MS = 60_000;
/** How long it may take for what starts or ends processes. */
export const WORK_MS = 120_000;

/** A Docker Engine, or what speaks its API, at its address. Loads its client with the first question. */
export class Engine implements AsyncDisposable {
  readonly #input: EngineInput;
  readonly #machines = new OpenedMachines();
  readonly #watch = new EngineWatch((signal) => this.#present(signal));
  #isWatched = false;
  #client: Promise<EngineClient> | undefined;

  constructor(input: EngineInput) {
    this.#input = input;
  }

  get provider(): ProviderKey {
    return this.#input.provider;
  }

  get kind(): string {
    return this.#input.kind;
  }

  get title(): string {
    return this.#input.title;
  }

  /** Asks something. @throws LitterboxError as {@link engineError} says; `undefined` for 404 with `isAbsenceFine`. */
  async ask<Answer>(
    operation: string,
    question: (docker: Docker, signal: AbortSignal) => Promise<Answer>,
    options?: CallOptions & { readonly limitMs?: number },
  ): Promise<Answer> {
    options?.signal?.throwIfAborted();
    const { docker, address } = await this.#connected(operation, options);
    const limit = AbortSignal.timeout(options?.limitMs ?? ANSWER_MS);
    const left = new AbortController();
    const signal = AbortSignal.any([limit, left.signal, ...(options?.signal ? [options.signal] : [])]);
    const answered = new AbortController();
    try {
      return await Promise.race([question(docker, signal), aborted(signal), silence(docker, answered.signal)]);
    } catch (error) {
      left.abort(); // a question that is still open would keep this program from ending
      options?.signal?.throwIfAborted();
      throw engineError(this.#input, operation, address, error);
    } finally {
      answered.abort();
    }
  }

  /** As {@link Engine.ask}, for what may be gone already. */
  async askIfThere<Answer>(
    operation: string,
    question: (docker: Docker, signal: AbortSignal) => Promise<Answer>,
    options?: CallOptions & { readonly limitMs?: number },
  ): Promise<Answer | undefined> {
    return await this.ask(
      operation,
      async (docker, signal) => {
        try {
          return await question(docker, signal);
        } catch (error) {
          if (answerOf(error).statusCode === 404) return undefined;
          throw error;
        }
      },
      options,
    );
  }

  /** Starts a program in a container and gives the connection that is its stdin and output. */
  async exec(
    container: string,
    options: Docker.ExecCreateOptions,
    call?: CallOptions,
  ): Promise<{ readonly exec: string; readonly stream: Duplex }> {
    return await this.ask(
      'process.spawn',
      async (docker, signal) => {
        const exec = await docker.getContainer(container).exec({ ...options, abortSignal: signal });
        const stream = await exec.start({
          hijack: true,
          stdin: options.AttachStdin ?? false,
          Tty: options.Tty ?? false,
        });
        await this.#watchOver(stream, call);
        return { exec: exec.id, stream };
      },
      call,
    );
  }

  /** Attaches to the first process of a container that runs: gives the connection that is its stdin and output. */
  async attach(container: string, call?: CallOptions): Promise<Duplex> {
    const streams = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true } as const;
    return await this.ask(
      'process.spawn',
      async (docker, signal) => {
        const stream = await docker.getContainer(container).attach({ ...streams, abortSignal: signal });
        await this.#watchOver(stream as Duplex, call);
        return stream as Duplex;
      },
      call,
    );
  }

  /** From now on programs are ended when the engine falls silent; they always are where it is not behind a socket of the host. */
  watchAll(): void {
    this.#isWatched = true;
  }

  /** Where it is. @throws LitterboxError `UNAVAILABLE` when there is none, `UNSUPPORTED` when it cannot be reached in that way. */
  async address(options?: CallOptions): Promise<EngineAddress> {
    return (await this.#connected('engine.connect', options)).address;
  }

  /** Forgets where it is: the next question looks for it anew. A machine that was logged in at is kept. */
  forget(): void {
    void this.#client?.then(
      ({ closeIdle }) => closeIdle(),
      () => {},
    );
    this.#client = undefined;
  }

  /** Ends what is open, and waits for no machine that has not answered. */
  async [Symbol.asyncDispose](): Promise<void> {
    void this.#client?.then(
      ({ giveUp }) => giveUp(),
      () => {},
    );
    this.#watch.stop();
    this.forget();
    await this.#machines[Symbol.asyncDispose]();
  }

  async #watchOver(stream: Duplex, call?: CallOptions): Promise<void> {
    if (this.#isWatched || (await this.address(call)).type !== 'unix') this.#watch.add(stream);
  }

  async #present(signal: AbortSignal): Promise<void> {
    const { docker } = await this.#connected('engine.ping', { signal });
    try {
      await ping(docker, signal);
    } catch (error) {
      if (answerOf(error).statusCode === undefined) throw error; // whoever answers is there
    }
  }

  async #connected(operation: string, options?: CallOptions): Promise<EngineClient> {
    this.#client ??= openClient(this.#input, this.#machines, options);
    const client = this.#client;
    try {
      return await client;
    } catch (error) {
      if (this.#client === client) this.#client = undefined;
      options?.signal?.throwIfAborted();
      if (error instanceof LitterboxError) throw error;
      throw engineError(this.#input, operation, undefined, error);
    }
  }
}

/**
 * Rejects when the engine stands still: when it leaves a question open and does not answer to a ping either, which costs it nothing.
 * One that is only busy is waited for. Pending for ever once the question is answered.
 */
async function silence(docker: Docker, answered: AbortSignal): Promise<never> {
  const timer = (durationMs: number) =>
    new Promise<void>((resolve) => {
      const timeout = setTimeout(resolve, durationMs);
      answered.addEventListener('abort', () => clearTimeout(timeout), { once: true });
    });
  for (;;) {
    await timer(PRESENCE_MS / 2);
    const limit = AbortSignal.timeout(PRESENCE_MS / 2);
    await Promise.race([ping(docker, AbortSignal.any([limit, answered])), aborted(limit)]);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
