import { constants } from 'node:os';
import {
  type ExitStatus,
  interleaved,
  LitterboxError,
  connectionLost,
  type OutputChunk,
  type ProcessHandle,
} from '@litterbox/core/provider';
import type { ClientChannel } from 'ssh2';

/** A session of an SSH connection as a {@link ProcessHandle}. Signals do not go this way: few servers take them. */
export class SshProcess implements ProcessHandle {
  readonly exit: Promise<ExitStatus>;
  readonly #channel: ClientChannel;
  /** Writes that are on their way: what the session does not take any more is dropped. */
  readonly #writing = new Set<() => void>();

  /** @param onClose called once, when the session is over */
  constructor(channel: ClientChannel, onClose: () => void) {
    this.#channel = channel;
    channel.on('error', () => {}); // whoever reads or writes is told
    channel.stderr.on('error', () => {});
    this.exit = new Promise((resolve, reject) => {
      channel.once('exit', (code: number | null, name?: string) => resolve(statusOf(code, name)));
      channel.once('close', () => {
        onClose();
        for (const done of this.#writing) done();
        reject(
          connectionLost('The session was closed before the program there had ended.', { operation: 'process.exit' }),
        );
      });
    });
    this.exit.catch(() => {}); // whoever waits for it is told
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    const { stderr } = this.#channel;
    yield* interleaved(this.#channel, stderr, {
      endsBy: 'end', // a session closes with its stdin too
      // What nobody reads keeps a session from being over.
      leave: () => {
        for (const stream of [this.#channel, stderr]) stream.removeAllListeners('data').resume();
      },
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    const channel = this.#channel;
    if (channel.destroyed || channel.writableEnded) return;
    await new Promise<void>((resolve) => {
      this.#writing.add(resolve);
      channel.write(bytes, () => {
        this.#writing.delete(resolve);
        resolve();
      });
    });
  }

  async closeStdin(): Promise<void> {
    if (!this.#channel.destroyed && !this.#channel.writableEnded) this.#channel.end();
  }

  async kill(): Promise<void> {
    throw new LitterboxError('UNSUPPORTED', 'A session takes no signals.', { operation: 'process.kill' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#channel.close();
    // What nobody reads keeps a session from being over.
    this.#channel.resume();
    this.#channel.stderr.resume();
  }
}

/** RFC 4254, section 6.10: the name comes without SIG. */
function statusOf(code: number | null, name: string | undefined): ExitStatus {
  if (name === undefined || name === null) return { code: (code ?? 255) & 0xff };
  const signal = name.startsWith('SIG') ? name : `SIG${name}`;
  const number = constants.signals[signal as keyof typeof constants.signals] ?? 127;
  return { code: 128 + number, signal };
}
