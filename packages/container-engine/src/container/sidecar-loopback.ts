import {
  type ByteStream,
  type CallOptions,
  isLitterboxError,
  LitterboxError,
  type NamespaceLoopback,
  type OpenPort,
  type ProcessHandle,
  type ProcessSpec,
} from '@litterbox/core/provider';
import { closeQuietly, ProgramLoopback } from '@litterbox/linux-sandbox';
import type { Engine } from '../engine/engine.ts';
import type { Sidecar } from './sidecar.ts';

export interface SidecarLoopbackInput {
  readonly engine: Engine;
  start(): Promise<Sidecar>;
}

/** How often a program is started whose sidecar ends under it. */
const MAX_ATTEMPTS = 3;

/** The loopback of a container's network, reached through a {@link Sidecar}, which is started at first use and again when it has ended. */
export class SidecarLoopback implements NamespaceLoopback {
  readonly #input: SidecarLoopbackInput;
  readonly #programs: ProgramLoopback;
  #sidecar: Promise<Sidecar> | undefined;
  #isDisposed = false;

  constructor(input: SidecarLoopbackInput) {
    this.#input = input;
    this.#programs = new ProgramLoopback({
      enter: [],
      spawn: (spec, call) => this.#spawn(spec, call),
      newSocketPath: async () => `/tmp/s-${crypto.randomUUID()}`,
    });
  }

  async connect(port: number, options?: CallOptions): Promise<ByteStream> {
    return await this.#programs.connect(port, options);
  }

  async listen(port: number, onConnection: (stream: ByteStream) => void, options?: CallOptions): Promise<OpenPort> {
    return await this.#programs.listen(port, onConnection, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#programs[Symbol.asyncDispose]();
    const started = await this.#sidecar?.catch(() => undefined);
    if (started) await closeQuietly(started); // the engine removes it by itself, or with the sandbox
  }

  async #spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
    for (let attempt = 1; ; attempt += 1) {
      const { host, ended } = await this.#running();
      try {
        return await host.spawn(spec, { signal: options?.signal ? AbortSignal.any([options.signal, ended]) : ended });
      } catch (error) {
        if (isLitterboxError(error, 'TOOL_MISSING')) throw this.#lacking(spec.argv[0], error);
        // It ended under the program: somebody removed it, or the engine was started again.
        if (options?.signal?.aborted || !ended.aborted || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  #lacking(program: string, cause: LitterboxError): LitterboxError {
    const { engine } = this.#input;
    return new LitterboxError(
      'UNSUPPORTED',
      `Ports of this sandbox cannot be reached: its image has no ${program}, and the network of containers of ${engine.title} cannot be entered from here.`,
      {
        operation: 'runtime.connect',
        provider: engine.provider,
        hint: 'Use an image with Perl (those made of Debian or Ubuntu have it); or run Litterbox as root on the machine of the engine.',
      },
      { cause },
    );
  }

  /** It is started for all who need it, so that no caller who leaves ends it for the others. */
  async #running(): Promise<Sidecar> {
    if (this.#isDisposed)
      throw new LitterboxError('DISPOSED', 'The way into the sandbox was closed.', { operation: 'host.connect' });
    const before = this.#sidecar;
    const known = await before?.catch(() => undefined);
    if (known && !known.ended.aborted) return known;
    // Of several that found that it has ended one starts the next.
    if (this.#sidecar === before) this.#sidecar = this.#input.start();
    return await (this.#sidecar ?? this.#input.start());
  }
}
