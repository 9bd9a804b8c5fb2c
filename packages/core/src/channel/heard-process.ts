import { joinBytes } from '../domain/text/join-bytes.ts';
import type { SignalName } from '../domain/processes/signal-name.ts';
import { BoundedOutput, type KeptOutput } from './bounded-output.ts';
import type { OutputChunk, ProcessHandle, TerminalSize } from '../ports/common/process.ts';

/** How much is kept at least of what it wrote last. */
const KEPT_BYTES = 16 * 1024;

/** A process whose last output is kept, while somebody reads it. */
export class HeardProcess implements ProcessHandle {
  readonly exit: ProcessHandle['exit'];
  readonly resize?: (size: TerminalSize) => Promise<void>;
  readonly #process: ProcessHandle;
  readonly #printed: { readonly stdout: BoundedOutput; readonly stderr: BoundedOutput };
  #last: Uint8Array[] = [];

  /** @param maxBytes how much of each stream is kept: its head and its tail */
  constructor(process: ProcessHandle, maxBytes: number) {
    this.#process = process;
    this.#printed = { stdout: new BoundedOutput(maxBytes), stderr: new BoundedOutput(maxBytes) };
    this.exit = process.exit;
    const { resize } = process;
    if (resize) this.resize = async (size) => await resize.call(process, size);
  }

  /** The head and the tail of each stream, as far as it was read. */
  get printed(): { readonly stdout: KeptOutput; readonly stderr: KeptOutput } {
    return { stdout: this.#printed.stdout.kept(), stderr: this.#printed.stderr.kept() };
  }

  /** The end of what was read of it, of both streams. */
  get last(): Uint8Array {
    return joinBytes(this.#last);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    for await (const chunk of this.#process) {
      this.#printed[chunk.type === 'stdout-data' ? 'stdout' : 'stderr'].push(chunk.bytes);
      this.#last.push(chunk.bytes.slice(-KEPT_BYTES));
      let after = this.#last.reduce((sum, { length }) => sum + length, 0);
      while (after - (this.#last[0]?.length ?? 0) >= KEPT_BYTES) after -= this.#last.shift()?.length ?? 0;
      yield chunk;
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#process.write(bytes);
  }

  async closeStdin(): Promise<void> {
    await this.#process.closeStdin();
  }

  async kill(signal: SignalName): Promise<void> {
    await this.#process.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}
