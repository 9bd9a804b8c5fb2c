import {
  LitterboxError,
  connectionLost,
  MarkerSplitter,
  type ProcessHandle,
  type SignalName,
  visibleName,
} from '@litterbox/core/provider';
import { closeQuietly } from '@litterbox/linux-sandbox';
import type { ConnectionTimeouts } from './connection-timeouts.ts';
import { FarProcess, type FarProcessLine } from './far-process.ts';
import { startLine, WAITING_SHELL, watchCommand } from './far-scripts.ts';
import type { ShellTransport } from './shell-transport.ts';
import { ShellMux } from './shell-multiplexer.ts';

/** Shells that wait for what comes next, so that it begins after one round trip. */
const SPARE_SHELLS = 2;

const newNonce = () => crypto.randomUUID().replaceAll('-', '');
const bytesOf = (text: string) => new TextEncoder().encode(text);

/**
 * One connection to a machine: its watch there, which ends what was started by the connection when that is lost, and shells that wait. Either side
 * gives it up when it has not heard of the other for a while.
 */
export class ShellConnection implements FarProcessLine, AsyncDisposable {
  /** Absolute directory there that is this user's alone, and goes with the connection. */
  readonly directory = `/tmp/.litterbox-${crypto.randomUUID()}`;
  #transport: ShellTransport;
  readonly #patience: ConnectionTimeouts;
  readonly #host: string;
  readonly #spare: Promise<ProcessHandle>[] = [];
  #watch: ProcessHandle | undefined;
  #loss: LitterboxError | undefined;
  #beat: ReturnType<typeof setInterval> | undefined;
  #unanswered = 0;

  private constructor(host: string, transport: ShellTransport, patience: ConnectionTimeouts) {
    this.#host = host;
    this.#transport = transport;
    this.#patience = patience;
    void transport.ended.then((reason) => this.#lose(reason));
  }

  /** @throws LitterboxError `UNAVAILABLE` when no shell there answers in time. Takes the transport over, also when it throws. */
  static async open(
    host: string,
    transport: ShellTransport,
    patience: ConnectionTimeouts,
    sharesSession: boolean,
  ): Promise<ShellConnection> {
    const line = new ShellConnection(host, transport, patience);
    try {
      const mux = sharesSession ? await line.#inTime(ShellMux.open(transport, patience)) : undefined;
      if (mux) line.#transport = mux;
      for (let count = 0; count < SPARE_SHELLS; count += 1) line.#addSpare();
      await line.#inTime(line.#startWatch());
      return line;
    } catch (error) {
      await line[Symbol.asyncDispose]();
      throw error;
    }
  }

  get loss(): LitterboxError | undefined {
    return this.#loss;
  }

  /**
   * Starts what `body` makes of a nonce, as {@link startLine} takes it.
   *
   * @returns the process, or the word with which the script refused
   * @throws LitterboxError `UNAVAILABLE`
   */
  async start(
    body: (nonce: string) => string,
    { hasStdin, signal }: { readonly hasStdin: boolean; readonly signal?: AbortSignal | undefined },
  ): Promise<FarProcess | string> {
    signal?.throwIfAborted();
    if (this.#loss) throw this.#loss;
    const shell = this.#spare.shift() ?? this.#transport.start(WAITING_SHELL);
    this.#addSpare();
    const nonce = newNonce();
    const starting = (async () =>
      FarProcess.start(await shell, this, {
        line: startLine(this.directory, nonce, body(nonce)),
        nonce,
        hasStdin,
        signal,
      }))();
    return await this.#inTime(starting, signal);
  }

  async signal(group: number, name: SignalName): Promise<void> {
    await this.#tell(`k ${name.slice('SIG'.length)} ${group}\n`);
  }

  forget(group: number): void {
    void this.#tell(`f ${group}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#beat);
    this.#loss ??= lost(this.#host, 'it was closed');
    // The watch takes its directory away, and what is left of the programs.
    const watch = this.#watch;
    if (watch) await this.#inTime(watch.closeStdin().then(() => watch.exit)).catch(() => {});
    await this.#transport[Symbol.asyncDispose]();
  }

  async #tell(line: string): Promise<void> {
    if (!this.#loss) await this.#watch?.write(bytesOf(line)).catch(() => {});
  }

  #addSpare(): void {
    if (this.#loss) return;
    const shell = this.#transport.start(WAITING_SHELL);
    shell.catch(() => {}); // whoever takes it is told
    this.#spare.push(shell);
  }

  async #startWatch(): Promise<void> {
    const nonce = newNonce();
    const watch = await this.#transport.start(watchCommand(this.directory, nonce, this.#patience));
    this.#watch = watch;
    await new Promise<void>((resolve, reject) => {
      const stdout = new MarkerSplitter(
        () => {
          this.#unanswered = 0;
        },
        () => resolve(),
      );
      stdout.expect(nonce);
      (async () => {
        let said = '';
        for await (const { type, bytes } of watch) {
          if (type === 'stdout-data') stdout.push(bytes);
          else said = (said + new TextDecoder().decode(bytes)).slice(-500);
        }
        const reason = said.trim().split('\n').at(-1) ?? '';
        reject(lost(this.#host, reason === '' ? 'its shell ended' : visibleName(reason)));
        await this.#lose('its watcher on that machine has ended');
      })().catch(reject);
    });
    this.#beat = setInterval(() => this.#sayHere(), this.#patience.beatMs);
  }

  #sayHere(): void {
    const { beatMs, nearLostBeats } = this.#patience;
    if (this.#unanswered >= nearLostBeats)
      return void this.#lose(`it has not answered for ${(beatMs * nearLostBeats) / 1000} seconds`);
    this.#unanswered += 1;
    void this.#tell('b\n');
  }

  async #lose(reason: string): Promise<void> {
    if (this.#loss) return;
    this.#loss = lost(this.#host, visibleName(reason));
    clearInterval(this.#beat);
    await closeQuietly(this.#transport);
  }

  /** What is late is given up: the connection that it was asked of answers nothing. */
  async #inTime<Value>(work: Promise<Value>, signal?: AbortSignal): Promise<Value> {
    const { startMs } = this.#patience;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let abort = () => {};
    const over = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(lost(this.#host, `nothing started within ${startMs / 1000} seconds`)), startMs);
      abort = () => reject(signal?.reason as Error);
      signal?.addEventListener('abort', abort, { once: true });
    });
    try {
      return await Promise.race([work, over]);
    } catch (error) {
      // Nobody is left who would end what still comes.
      void work.then(
        (late) => (late instanceof FarProcess ? late[Symbol.asyncDispose]() : undefined),
        () => {},
      );
      throw this.#loss ?? error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }
}

function lost(host: string, reason: string): LitterboxError {
  return connectionLost(`The connection to ${host} is lost: ${reason}.`, {
    operation: 'host.connect',
    hint: 'Check whether the machine is up and can be reached, then try again.',
  });
}
