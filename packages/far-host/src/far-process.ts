import {
  type ExitStatus,
  LitterboxError,
  type OutputChunk,
  type ProcessHandle,
  type SignalName,
} from '@litterbox/core/provider';
import { closeQuietly, within } from '@litterbox/linux-sandbox';
import { MarkedStream } from './marked-stream.ts';

/** Of a group that was killed, until its pipes close. */
const END_MS = 10_000;

/** What a process asks of the connection that it came by. */
export interface FarProcessLine {
  /** Sends a signal to a group there; does nothing once the connection is lost. */
  signal(group: number, name: SignalName): Promise<void>;
  /** Nothing of the group is left. */
  forget(group: number): void;
  /** Why the connection is lost, for a person; absent while it stands. What was started by it ends then. */
  readonly loss: LitterboxError | undefined;
}

/** A program on a machine behind a {@link FarTransport}, which its shell has become. */
export class FarProcess implements ProcessHandle {
  readonly exit: Promise<ExitStatus>;
  readonly #shell: ProcessHandle;
  readonly #line: FarProcessLine;
  readonly #chunks: AsyncIterator<OutputChunk>;
  readonly #first: OutputChunk[] = [];
  readonly #signal: AbortSignal | undefined;
  readonly #hasStdin: boolean;
  #group = 0;
  #hasExited = false;
  #hasEnded = false;

  private constructor(
    shell: ProcessHandle,
    line: FarProcessLine,
    { hasStdin, signal }: { readonly hasStdin: boolean; readonly signal: AbortSignal | undefined },
  ) {
    this.#shell = shell;
    this.#line = line;
    this.#hasStdin = hasStdin;
    this.#signal = signal;
    this.#chunks = shell[Symbol.asyncIterator]();
    this.exit = shell.exit.then(
      (status) => {
        if (line.loss) throw line.loss;
        return status;
      },
      (error: unknown) => {
        throw line.loss ?? error;
      },
    );
    const noteExit = () => {
      this.#hasExited = true;
      signal?.removeEventListener('abort', this.#abort);
    };
    this.exit.then(noteExit, noteExit);
  }

  /**
   * Has a waiting shell become a program, and waits until it says so.
   *
   * @param line for the shell's stdin, as `startLine` makes it with this nonce
   * @returns the process, or the word with which the script refused
   */
  static async start(
    shell: ProcessHandle,
    line: FarProcessLine,
    what: {
      readonly line: string;
      readonly nonce: string;
      readonly hasStdin: boolean;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<FarProcess | string> {
    const process = new FarProcess(shell, line, { hasStdin: what.hasStdin, signal: what.signal });
    try {
      await shell.write(new TextEncoder().encode(what.line));
      if (!what.hasStdin) void shell.closeStdin().catch(() => {});
      const word = await process.#readMarkers(what.nonce);
      process.#group = /^[0-9]{1,10}$/.test(word) ? Number(word) : 0;
      if (process.#group === 0) {
        await closeQuietly(shell);
        return word;
      }
    } catch (error) {
      await closeQuietly(shell);
      throw line.loss ?? error;
    }
    what.signal?.addEventListener('abort', process.#abort, { once: true });
    if (what.signal?.aborted) process.#abort();
    return process;
  }

  readonly #abort = () => void this.kill('SIGKILL').catch(() => {});

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    try {
      yield* this.#first.splice(0);
      for (let next = await this.#chunks.next(); !next.done; next = await this.#chunks.next()) yield next.value;
    } finally {
      void Promise.resolve(this.#chunks.return?.()).catch(() => {});
    }
    this.#signal?.throwIfAborted();
    if (this.#line.loss) throw this.#line.loss;
    this.#ended();
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (!this.#hasStdin)
      throw new LitterboxError('INVALID_ARGUMENT', 'The process was started without stdin.', {
        operation: 'process.write',
      });
    await this.#shell.write(bytes);
  }

  async closeStdin(): Promise<void> {
    await this.#shell.closeStdin();
  }

  async kill(signal: SignalName): Promise<void> {
    if (!this.#hasExited) await this.#line.signal(this.#group, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // After the leader has ended, its group is ours for as long as a member holds our pipes: then nobody else has the number.
    if (!this.#hasExited || !this.#hasEnded) {
      await this.#line.signal(this.#group, 'SIGKILL').catch(() => {});
      await within(END_MS, this.exit);
    }
    this.#ended();
    await closeQuietly(this.#shell);
  }

  #ended(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#line.forget(this.#group);
  }

  /** The word behind the marker on stdout. What comes behind the markers is the program's. */
  async #readMarkers(nonce: string): Promise<string> {
    const stdout = new MarkedStream(nonce);
    const stderr = new MarkedStream(nonce);
    while (stdout.word === undefined || stderr.word === undefined) {
      const next = await this.#chunks.next();
      if (next.done) throw unavailable('The shell there ended before it had started anything.');
      (next.value.type === 'stdout-data' ? stdout : stderr).push(next.value.bytes);
      if (stdout.isEndless || stderr.isEndless) throw unavailable('The login shell there prints without end.');
    }
    stdout.flush();
    stderr.flush();
    for (const bytes of stdout.behind) this.#first.push({ type: 'stdout-data', bytes });
    for (const bytes of stderr.behind) this.#first.push({ type: 'stderr-data', bytes });
    return stdout.word;
  }
}

const unavailable = (message: string) =>
  new LitterboxError('UNAVAILABLE', message, {
    operation: 'host.spawn',
    hint: 'Check what the login files of that user do (~/.bashrc and the like), and whether /bin/sh works there.',
  });
