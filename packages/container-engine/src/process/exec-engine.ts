import type { Duplex } from 'node:stream';
import type { CallOptions, OutputChunk, TerminalSize } from '@litterbox/core/provider';
import type { ExecEngine, ExecRequest, RawExec } from '@litterbox/sandbox-kit';
import type { Engine } from '../engine/engine.ts';
import { answerOf } from '../engine/engine-error.ts';
import { outputFrames } from './output-frames.ts';

/** The engine, for programs of one container. */
export function execEngineOf(engine: Engine, container: string): ExecEngine {
  return {
    provider: engine.provider,
    title: engine.title,
    async start({ script, environment, hasTerminal, hasStdin }: ExecRequest, options?: CallOptions): Promise<RawExec> {
      const { exec, stream } = await engine.exec(
        container,
        {
          Cmd: ['/bin/sh', '-c', script(false)],
          Env: [...environment],
          AttachStdin: hasStdin,
          AttachStdout: true,
          AttachStderr: !hasTerminal,
          Tty: hasTerminal,
          WorkingDir: '/',
          Privileged: false,
        },
        options,
      );
      return new ContainerExec(engine, exec, stream, hasTerminal);
    },
  };
}

/** One program in a container, over one connection to the engine. */
class ContainerExec implements RawExec {
  readonly output: AsyncIterable<OutputChunk>;
  readonly closed: Promise<void>;
  readonly id: string;
  readonly #engine: Engine;
  readonly #stream: Duplex;

  constructor(engine: Engine, id: string, stream: Duplex, hasTerminal: boolean) {
    this.#engine = engine;
    this.id = id;
    this.#stream = stream;
    this.output = hasTerminal ? terminalOutput(stream) : outputFrames(stream);
    this.closed = new Promise((resolve) => stream.once('close', resolve));
    stream.on('error', () => {}); // whoever reads is told
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#stream.destroyed || this.#stream.writableEnded) return;
    await new Promise<void>((resolve) => {
      this.#stream.write(bytes, () => resolve());
    });
  }

  endInput(): void {
    if (!this.#stream.destroyed && !this.#stream.writableEnded) this.#stream.end();
  }

  async exitCode(): Promise<number | undefined> {
    const { ExitCode, Running } = await this.#engine.ask('process.exit', async (docker, signal) =>
      docker.getExec(this.id).inspect({ abortSignal: signal }),
    );
    return !Running && Number.isInteger(ExitCode) ? Number(ExitCode) : undefined;
  }

  async resize({ columns, rows }: TerminalSize): Promise<void> {
    await this.#engine.askIfThere('process.resize', async (docker, signal) => {
      try {
        await docker.getExec(this.id).resize({ h: rows, w: columns, abortSignal: signal });
      } catch (error) {
        if (answerOf(error).statusCode !== 201) throw error; // Podman's word for "done", unknown to the client library
      }
    });
  }

  destroy(): void {
    this.#stream.destroy();
  }
}

async function* terminalOutput(stream: Duplex): AsyncGenerator<OutputChunk, void, undefined> {
  for await (const bytes of stream as AsyncIterable<Uint8Array>) yield { type: 'stdout-data', bytes };
}
