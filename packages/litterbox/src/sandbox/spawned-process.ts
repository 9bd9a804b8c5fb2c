import {
  type AttachedProcess,
  type CallOptions,
  type ExitStatus,
  LitterboxError,
  type RevisionResult,
  shown,
  type SignalName,
  stepForPrograms,
  worded,
} from '@litterbox/core';
import { OutputStream } from './output-stream.ts';

/** A program in the background may hold the output of one that has ended. So long may nothing come before it is left alone. */
const QUIET_MS = 500;

const SIGNALS: ReadonlySet<SignalName> = new Set<SignalName>([
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGKILL',
  'SIGTERM',
  'SIGSTOP',
  'SIGCONT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGWINCH',
]);

/** How a command is started that goes on beside the program. */
export interface SpawnOptions extends CallOptions {
  /** Absolute inside, or relative to the workspace. @defaultValue the workspace */
  readonly cwd?: string;
  /** Variables for this command. */
  readonly env?: Readonly<Record<string, string>>;
  /** The subject of the revision. */
  readonly message?: string;
  /** `none`: it reads end of file at once, and starts faster. @defaultValue 'pipe' */
  readonly stdin?: 'pipe' | 'none';
  /** Errors go where output goes, in the order in which they are written. @defaultValue false */
  readonly mergeOutput?: boolean;
}

/** How a command that was spawned ended. */
export interface SpawnResult {
  /** 128 + n when signal n ended it. */
  readonly exitCode: number;
  /** The signal that ended it. Absent when none did. */
  readonly signal?: string;
  /** From its start to its recording, in milliseconds. */
  readonly durationMs: number;
  /** Bytes at the end of each stream that were thrown away, because {@link SpawnedProcess.wait} was called and nobody read them. */
  readonly dropped: { readonly stdout: number; readonly stderr: number };
  /** The revision that holds its changes, if it made any. */
  readonly recorded: RevisionResult;
  /** What limits of the sandbox had to do with how it ended, a sentence each; mostly empty. */
  readonly hints: readonly string[];
}

/**
 * A command that runs beside the program. It takes no turn: others may change the workspace meanwhile. It is recorded when it has ended,
 * whether or not anybody waits. It has no time limit; {@link kill}, its signal and disposing end it. What it leaves in the background lives
 * on until it is disposed of.
 */
export class SpawnedProcess implements AsyncDisposable {
  /** Its standard input. Text is given as UTF-8. Closing it is end of file. */
  readonly stdin: WritableStream<Uint8Array | string>;
  readonly #attached: AttachedProcess;
  readonly #outputs = { 'stdout-data': new OutputStream(), 'stderr-data': new OutputStream() };
  readonly #ended: Promise<SpawnResult>;
  readonly #startedMs = performance.now();
  #aborted: { readonly reason: unknown } | undefined;

  /** @internal */
  constructor(attached: AttachedProcess, signal: AbortSignal | undefined) {
    const { process } = attached;
    this.#attached = attached;
    const encoder = new TextEncoder();
    this.stdin = new WritableStream<Uint8Array | string>({
      write: async (chunk) => await process.write(typeof chunk === 'string' ? encoder.encode(chunk) : chunk),
      close: async () => await process.closeStdin(),
      abort: async () => await process.closeStdin(),
    });
    const abort = () => {
      this.#aborted = { reason: signal?.reason };
      this.#kill().catch(() => {}); // heard by who waits
    };
    signal?.addEventListener('abort', abort, { once: true });
    this.#ended = this.#run().finally(() => signal?.removeEventListener('abort', abort));
    this.#ended.catch(() => {}); // heard by who waits
    if (signal?.aborted) abort();
  }

  /** Its output. Unread it keeps 1 MiB, then holds the command and the other stream back; cancel it to throw it away. */
  get stdout(): ReadableStream<Uint8Array> {
    return this.#outputs['stdout-data'].readable;
  }

  /** The same of its errors. */
  get stderr(): ReadableStream<Uint8Array> {
    return this.#outputs['stderr-data'].readable;
  }

  /**
   * Resolves when it has ended and its changes are recorded. From this call on a stream that nobody reads keeps the beginning, 1 MiB, and
   * holds nothing back.
   *
   * @throws the reason of an aborted signal; LitterboxError where it could not be recorded
   */
  async wait(): Promise<SpawnResult> {
    for (const output of Object.values(this.#outputs)) output.letDrop();
    return await this.#ended;
  }

  /** Sends a signal to it. Nothing happens when it has ended. @param signal `SIGTERM` when left out */
  async kill(signal: SignalName = 'SIGTERM'): Promise<void> {
    if (!SIGNALS.has(signal))
      throw new LitterboxError('ARG_RANGE', `signal: got ${shown(signal)}.`, {
        operation: 'sandbox.spawn',
        hint: `Give one of ${[...SIGNALS].join(', ')}.`,
      });
    await this.#attached.process.kill(signal);
  }

  /** Ends it and all that it started, and resolves when what it changed is recorded. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kill();
    await this.#ended.catch(() => {}); // heard by who waits
  }

  async #kill(): Promise<void> {
    for (const output of Object.values(this.#outputs)) output.end(this.#aborted);
    await this.#attached.process[Symbol.asyncDispose]();
  }

  async #run(): Promise<SpawnResult> {
    const exit = await this.#outcome();
    const { hints, ...recorded } = await this.#attached.finish(exit);
    if (this.#aborted) throw this.#aborted.reason;
    return {
      exitCode: exit.code,
      ...(exit.signal !== undefined && { signal: exit.signal }),
      durationMs: performance.now() - this.#startedMs,
      dropped: {
        stdout: this.#outputs['stdout-data'].droppedBytes,
        stderr: this.#outputs['stderr-data'].droppedBytes,
      },
      recorded,
      hints: hints.map((hint) => worded(hint, stepForPrograms)),
    };
  }

  async #outcome(): Promise<ExitStatus> {
    const { process } = this.#attached;
    try {
      await this.#deliver();
      return await process.exit;
    } catch (error) {
      for (const output of Object.values(this.#outputs)) output.end({ reason: error });
      await this.#attached[Symbol.asyncDispose](); // records what it changed
      throw error;
    } finally {
      for (const output of Object.values(this.#outputs)) output.end();
    }
  }

  /** Delivers its output until it has ended and nothing more comes. */
  async #deliver(): Promise<void> {
    const { process } = this.#attached;
    let [hasEnded, isWaiting] = [false, true];
    let timer: NodeJS.Timeout | undefined;
    let leave = () => {};
    const quiet = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const listen = () => {
      clearTimeout(timer);
      if (hasEnded && isWaiting) timer = setTimeout(leave, QUIET_MS);
    };
    const end = () => {
      hasEnded = true;
      listen();
    };
    process.exit.then(end, end);
    const reading = (async () => {
      for await (const { type, bytes } of process) {
        isWaiting = false;
        await this.#outputs[type].push(bytes);
        isWaiting = true;
        listen();
      }
    })();
    reading.catch(() => {}); // after it was left alone nobody is there to hear
    try {
      await Promise.race([reading, quiet]);
    } finally {
      isWaiting = false;
      clearTimeout(timer);
    }
  }
}
