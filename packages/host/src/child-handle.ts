import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ExitStatus,
  interleaved,
  LitterboxError,
  type OutputChunk,
  type ProcessHandle,
  type SignalName,
} from '@litterbox/core/provider';

/** How long the pipes of a program that has ended may take to close. A member of its group that holds them is ended then. */
const LET_GO_MS = 100;
/** Holds what a program prints until somebody reads it. */
const hold = () => {};

/** A child process of Node as a {@link ProcessHandle}. */
export class ChildHandle implements ProcessHandle {
  readonly exit: Promise<ExitStatus>;
  readonly #child: ChildProcess;
  readonly #signal: AbortSignal | undefined;
  #ended = false;

  constructor(child: ChildProcess, signal: AbortSignal | undefined) {
    this.#child = child;
    this.#signal = signal;
    this.exit = new Promise((resolve) => {
      child.once('exit', (code, name) => {
        this.#ended = true;
        signal?.removeEventListener('abort', this.#abort);
        resolve(name === null ? { code: code ?? 0 } : { code: 128 + constants.signals[name], signal: name });
      });
    });
    // Node lets the outputs of a program that has ended run dry (`flushStdio`), except where somebody waits for them to be readable.
    for (const output of [child.stdout, child.stderr]) output?.on('readable', hold);
    child.stdin?.on('error', () => {}); // EPIPE: the program does not read; write() says that such bytes are dropped
    signal?.addEventListener('abort', this.#abort, { once: true });
    if (signal?.aborted) this.#abort();
  }

  readonly #abort = () => this.#killGroup('SIGKILL');

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    const { stdout, stderr } = this.#child;
    if (!stdout || !stderr) return;
    for (const output of [stdout, stderr]) output.off('readable', hold);
    yield* interleaved(stdout, stderr, {
      endsBy: 'close', // until then a member of the group may hold them
      leave: () => {
        stdout.destroy();
        stderr.destroy();
      },
    });
    this.#signal?.throwIfAborted();
  }

  async write(bytes: Uint8Array): Promise<void> {
    const { stdin } = this.#child;
    if (!stdin)
      throw new LitterboxError('INVALID_ARGUMENT', 'The process was started without stdin.', {
        operation: 'process.write',
      });
    if (stdin.destroyed || stdin.writableEnded) return;
    await new Promise<void>((resolve) => stdin.write(bytes, () => resolve()));
  }

  async closeStdin(): Promise<void> {
    const { stdin } = this.#child;
    if (!stdin || stdin.destroyed || stdin.writableEnded) return;
    await new Promise<void>((resolve) => {
      stdin.once('close', resolve); // also when what is still buffered cannot be written any more
      stdin.end(() => resolve());
    });
  }

  async kill(signal: SignalName): Promise<void> {
    this.#killGroup(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // After the leader ended, its group is ours only as long as a member holds our pipes: then the number is not reused.
    if (!this.#ended || !(await this.#hasLetGo())) this.#killGroup('SIGKILL');
    this.#child.stdin?.destroy();
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    await this.exit;
  }

  /** Whether the outputs of a program that has ended are closed once what nobody has read of them is dropped. */
  async #hasLetGo(): Promise<boolean> {
    const outputs = [this.#child.stdout, this.#child.stderr].filter((output) => output !== null);
    const closing = outputs
      .filter(({ closed }) => !closed)
      .map((output) => {
        output.off('readable', hold);
        output.resume();
        return new Promise((resolve) => output.once('close', resolve));
      });
    if (closing.length > 0) await Promise.race([Promise.all(closing), delay(LET_GO_MS, undefined, { ref: false })]);
    return outputs.every(({ closed }) => closed);
  }

  #killGroup(signal: SignalName): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // gone already
    }
  }
}
