import { once } from 'node:events';
import { type Duplex, PassThrough } from 'node:stream';
import {
  connectionLost,
  type ExitStatus,
  interleaved,
  LitterboxError,
  type OutputChunk,
  type ProcessHandle,
} from '@litterbox/core/provider';
import { FRAME, frame, framesOf } from './frames.ts';

/** One command on a machine, over a connection of its own. */
export class MachineShell implements ProcessHandle {
  readonly exit: Promise<ExitStatus>;
  readonly #socket: Duplex;
  readonly #stdout = new PassThrough();
  readonly #stderr = new PassThrough();

  constructor(socket: Duplex, command: string) {
    this.#socket = socket;
    socket.on('error', () => {}); // whoever reads or writes is told
    const { promise, resolve, reject } = Promise.withResolvers<ExitStatus>();
    this.exit = promise;
    this.exit.catch(() => {}); // whoever waits for it is told
    socket.write(frame(FRAME.command, new TextEncoder().encode(command)));
    void this.#read(resolve).then(() =>
      reject(connectionLost('The connection ended before the command there had.', { operation: 'process.exit' })),
    );
  }

  [Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    return interleaved(this.#stdout, this.#stderr, { endsBy: 'end', leave: () => this.#drop() });
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (!this.#socket.writable) return;
    await new Promise<void>((resolve) => this.#socket.write(frame(FRAME.stdin, bytes), () => resolve()));
  }

  async closeStdin(): Promise<void> {
    if (this.#socket.writable) this.#socket.write(frame(FRAME.stdinEnd));
  }

  async kill(): Promise<void> {
    throw new LitterboxError('UNSUPPORTED', 'A command of the service takes no signals.', {
      operation: 'process.kill',
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    this.#drop();
  }

  async #read(end: (status: ExitStatus) => void): Promise<void> {
    try {
      for await (const { kind, content } of framesOf(this.#socket)) {
        if (kind === FRAME.exit) {
          end({ code: content[0] ?? 255 });
          break;
        }
        const output = kind === FRAME.stdout ? this.#stdout : this.#stderr;
        if (!output.write(content)) await once(output, 'drain');
      }
    } catch {
      // The connection broke.
    }
    this.#stdout.end();
    this.#stderr.end();
  }

  /** What nobody reads any more holds nothing back. */
  #drop(): void {
    for (const output of [this.#stdout, this.#stderr]) output.removeAllListeners('data').resume();
  }
}
