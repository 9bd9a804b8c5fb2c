import type { Duplex } from 'node:stream';
import type Docker from 'dockerode';
import type { OutputChunk, TerminalSize } from '@litterbox/core/provider';
import type { RawExec } from '@litterbox/sandbox-kit';
import type { Engine } from '../engine/engine.ts';
import { answerOf } from '../engine/engine-error.ts';
import { outputFrames } from './output-frames.ts';

interface ContainerExecInput {
  /** By which the engine knows it; empty for what it did not start by itself. */
  readonly id: string;
  readonly hasTerminal: boolean;
  /** Asks the engine for it. */
  inspect(docker: Docker, signal: AbortSignal): Promise<{ readonly ExitCode?: unknown; readonly Running?: unknown }>;
}

/** One program in a container, over one connection to the engine. */
export class ContainerExec implements RawExec {
  readonly output: AsyncIterable<OutputChunk>;
  readonly closed: Promise<void>;
  readonly id: string;
  readonly #engine: Engine;
  readonly #input: ContainerExecInput;
  readonly #stream: Duplex;

  constructor(engine: Engine, stream: Duplex, input: ContainerExecInput) {
    const { id, hasTerminal } = input;
    this.#engine = engine;
    this.#input = input;
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
    const { ExitCode, Running } = await this.#engine.ask('process.exit', (docker, signal) =>
      this.#input.inspect(docker, signal),
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
