import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import { type CallOptions, type Host, LitterboxError, type ProviderKey } from '@litterbox/core/provider';
import { answerOf, engineError, type EngineWords } from './engine-error.ts';
import { ping } from './ping.ts';

export interface EngineInput extends EngineWords {
  readonly host: Host;
  /** Absolute path of the engine's socket on the host; called once, when the engine is first needed. */
  findSocket(call?: CallOptions): Promise<string>;
}

/** How long the engine may take to say that it is there: who waits shall know within ten seconds that it is not. */
export const PRESENCE_MS = 8_000;
/** How long it may take to answer a question. Each can wait for a disk that is busy with something else. */
const ANSWER_MS = 60_000;
/** How long it may take for what starts or ends processes. */
export const WORK_MS = 120_000;

/** What the engine is asked with. */
interface Client {
  readonly docker: Docker;
  /** Absolute path on the host. */
  readonly socket: string;
  /** Ends the connections that nobody uses. */
  closeIdle(): void;
}

/** A Docker Engine, or what speaks its API, reached through a host's socket. Loads its client with the first question. */
export class Engine {
  readonly #input: EngineInput;
  #client: Promise<Client> | undefined;

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
    call?: CallOptions & { readonly limitMs?: number },
  ): Promise<Answer> {
    call?.signal?.throwIfAborted();
    const { docker, socket } = await this.#connected(operation, call);
    const limit = AbortSignal.timeout(call?.limitMs ?? ANSWER_MS);
    const left = new AbortController();
    const signal = AbortSignal.any([limit, left.signal, ...(call?.signal ? [call.signal] : [])]);
    const answered = new AbortController();
    try {
      return await Promise.race([question(docker, signal), aborted(signal), silence(docker, answered.signal)]);
    } catch (error) {
      left.abort(); // a question that is still open would keep this program from ending
      call?.signal?.throwIfAborted();
      throw engineError(this.#input, operation, socket, error);
    } finally {
      answered.abort();
    }
  }

  /** As {@link Engine.ask}, for what may be gone already. */
  async askIfThere<Answer>(
    operation: string,
    question: (docker: Docker, signal: AbortSignal) => Promise<Answer>,
    call?: CallOptions & { readonly limitMs?: number },
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
      call,
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
        return { exec: exec.id, stream };
      },
      call,
    );
  }

  /** Absolute path of its socket on the host. @throws LitterboxError `UNAVAILABLE` when there is none. */
  async socket(call?: CallOptions): Promise<string> {
    return (await this.#connected('engine.connect', call)).socket;
  }

  /** Forgets the connections: the next question looks for the socket anew. */
  forget(): void {
    void this.#client?.then(
      ({ closeIdle }) => closeIdle(),
      () => {},
    );
    this.#client = undefined;
  }

  async #connected(operation: string, call?: CallOptions): Promise<Client> {
    this.#client ??= (async () => {
      const socket = await this.#input.findSocket(call);
      const [{ default: Dockerode }, { HostAgent }] = await Promise.all([
        import('dockerode'),
        import('./host-agent.ts'),
      ]);
      // Host and port are what an HTTP client wants to hear; the agent connects to the socket.
      const agent = new HostAgent(this.#input.host, socket);
      const options = { protocol: 'http', host: 'localhost', port: 80, agent };
      return { docker: new Dockerode(options as Docker.DockerOptions), socket, closeIdle: () => agent.closeIdle() };
    })();
    const client = this.#client;
    try {
      return await client;
    } catch (error) {
      if (this.#client === client) this.#client = undefined;
      if (error instanceof LitterboxError) throw error;
      throw engineError(this.#input, operation, 'its socket', error);
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
