import { LitterboxError } from '../domain/errors/errors.ts';
import type { ExitStatus } from '../domain/processes/exit-status.ts';
import type { SignalName } from '../domain/processes/signal-name.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { OutputChunk, ProcessHandle } from '../ports/common/process.ts';
import type { ChannelCommand, RunningCommand } from './channel-command.ts';
import type { CommandOutcome } from './command-outcome.ts';
import type { ExecChannel } from './exec-channel.ts';

/** As much as a pipe holds: a program that prints no more ends, whether anybody reads it or not. */
const KEPT_BYTES = 64 * 1024;

/** Counts of the sandbox's limits that were hit while a command ran. */
export type CommandHits = Pick<CommandOutcome, 'killedForMemory' | 'refusedProcesses'>;

/**
 * A command of the exec channel that is read live, without input: it costs what a command of the channel costs, where a runtime's own spawn
 * starts several programs. It is over with its program; what that left in the background lives on, and its output goes nowhere.
 */
export class ChannelProcess implements ProcessHandle {
  readonly exit: Promise<ExitStatus>;
  /** Rejects as {@link exit} does. */
  readonly hits: Promise<CommandHits>;
  readonly #ending = new AbortController();
  readonly #queue: OutputChunk[] = [];
  readonly #ended: Promise<CommandOutcome>;
  #running: RunningCommand | undefined;
  #keptBytes = 0;
  #isOver = false;
  #isLeft = false;
  #wake = () => {};
  #letOn = () => {};

  private constructor(channel: ExecChannel, command: ChannelCommand) {
    this.#ended = channel
      .run(
        {
          ...command,
          maxOutputBytes: 2, // it is read here
          onOutput: (chunk) => this.#take(chunk),
          onStart: (running) => {
            this.#running = running;
          },
        },
        { signal: this.#ending.signal },
      )
      .finally(() => {
        this.#isOver = true;
        this.#wake();
      });
    this.exit = this.#ended.then(({ exit }) => exit);
    this.hits = this.#ended;
    for (const one of [this.exit, this.hits]) one.catch(() => {}); // heard by who asks
  }

  /** Resolves once the command has its directory. @throws as {@link ExecChannel.run} */
  static async start(
    channel: ExecChannel,
    command: Pick<ChannelCommand, 'argv' | 'script' | 'cwd' | 'env' | 'isMerged'>,
    options?: CallOptions,
  ): Promise<ChannelProcess> {
    options?.signal?.throwIfAborted();
    let onEntered = () => {};
    const entered = new Promise<void>((resolve) => {
      onEntered = resolve;
    });
    const process = new ChannelProcess(channel, { ...command, onEntered });
    const abort = () => process.#ending.abort();
    options?.signal?.addEventListener('abort', abort, { once: true });
    try {
      await Promise.race([entered, process.#ended]);
      options?.signal?.throwIfAborted();
      return process;
    } finally {
      options?.signal?.removeEventListener('abort', abort);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    try {
      for (;;) {
        const chunk = this.#queue.shift();
        if (chunk) {
          yield chunk;
          this.#keptBytes -= chunk.bytes.length;
          if (this.#keptBytes <= KEPT_BYTES) this.#letOn();
        } else if (this.#isOver) return;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      this.#isLeft = true;
      this.#letOn();
    }
  }

  async write(): Promise<void> {
    throw new LitterboxError('INVALID_ARGUMENT', 'The process was started without stdin.', {
      operation: 'channel.write',
      hint: 'Leave out noInput.',
    });
  }

  async closeStdin(): Promise<void> {}

  async kill(signal: SignalName): Promise<void> {
    await this.#running?.signal(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isLeft = true;
    this.#ending.abort();
    this.#letOn();
    await this.#ended.catch(() => {}); // heard at the exit
  }

  /** Holds the command back while as much as a pipe holds was not read. */
  #take(chunk: OutputChunk): Promise<void> | undefined {
    if (this.#isLeft) return undefined;
    this.#queue.push(chunk);
    this.#keptBytes += chunk.bytes.length;
    this.#wake();
    if (this.#keptBytes <= KEPT_BYTES) return undefined;
    const before = this.#letOn;
    return new Promise((resolve) => {
      this.#letOn = () => {
        before();
        resolve();
      };
    });
  }
}
