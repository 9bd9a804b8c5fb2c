import { type CallOptions, LitterboxError, type OutputChunk, type ProcessHandle } from '@litterbox/core/provider';
import type { FarTransport } from '@litterbox/far-host';
import { localHost } from '@litterbox/host';

/** What makes a transport of a test different from a plain one. */
export interface ShellsOptions {
  /** What is put before the login shell's command line, such as `nsenter`. */
  readonly enter?: readonly string[];
  /** The login shell, with what it takes before a command line. @defaultValue `sh -c` */
  readonly loginShell?: readonly [string, ...string[]];
  /** How long each way takes, in milliseconds. @defaultValue 0 */
  readonly delayMs?: number;
}

/** A transport whose far end is this machine: shells, started by this machine's host. */
export class ShellsOfThisMachine implements FarTransport {
  readonly ended: Promise<string>;
  readonly #host = localHost();
  readonly #enter: readonly string[];
  readonly #loginShell: readonly string[];
  readonly #delayMs: number;
  readonly #shells = new Set<ProcessHandle>();
  #isGone = false;
  #end: (reason: string) => void = () => {};

  constructor({ enter = [], loginShell = ['sh', '-c'], delayMs = 0 }: ShellsOptions = {}) {
    this.#enter = enter;
    this.#loginShell = loginShell;
    this.#delayMs = delayMs;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** How many shells are open, what they became included. */
  get openCount(): number {
    return this.#shells.size;
  }

  async start(commandLine: string, options?: CallOptions): Promise<ProcessHandle> {
    if (this.#isGone) throw new LitterboxError('UNAVAILABLE', 'The way is gone.', { operation: 'host.connect' });
    const [program = 'sh', ...rest] = [...this.#enter, ...this.#loginShell, commandLine];
    await passed(2 * this.#delayMs); // a channel is opened, and then a command is asked for
    const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', LOGIN: 'yes' };
    const handle = await this.#host.spawn({ argv: [program, ...rest], stdin: 'pipe', env }, options);
    await passed(2 * this.#delayMs);
    if (this.#isGone) {
      await handle[Symbol.asyncDispose]();
      throw new LitterboxError('UNAVAILABLE', 'The way is gone.', { operation: 'host.connect' });
    }
    this.#shells.add(handle);
    void handle.exit.then(() => this.#shells.delete(handle));
    return this.#delayMs === 0 ? handle : new DelayedProcess(handle, this.#delayMs);
  }

  /** As when the machine is switched off: everything ends. */
  async cut(reason = 'somebody pulled the plug'): Promise<void> {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#end(reason);
    await Promise.all(
      [...this.#shells].map(async (shell) => {
        await shell.closeStdin();
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cut('it was closed');
    await this.#host[Symbol.asyncDispose]();
  }
}

const passed = (ms: number) => (ms === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, ms)));

/** Every byte takes its time, in both directions, and so does the end. */
class DelayedProcess implements ProcessHandle {
  readonly exit: ProcessHandle['exit'];
  readonly #handle: ProcessHandle;
  readonly #delayMs: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(handle: ProcessHandle, delayMs: number) {
    this.#handle = handle;
    this.#delayMs = delayMs;
    this.exit = handle.exit.then(async (status) => {
      await passed(delayMs);
      return status;
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    const onTheWay: { readonly chunk: OutputChunk; readonly at: number }[] = [];
    let wake = () => {};
    let hasEnded = false;
    const reading = (async () => {
      for await (const chunk of this.#handle) {
        onTheWay.push({ chunk, at: performance.now() + this.#delayMs });
        wake();
        while (onTheWay.length > 8) await new Promise<void>((resolve) => setTimeout(resolve, 1));
      }
    })().finally(() => {
      hasEnded = true;
      wake();
    });
    reading.catch(() => {});
    for (;;) {
      const next = onTheWay[0];
      if (next) {
        await passed(Math.max(0, next.at - performance.now()));
        onTheWay.shift();
        yield next.chunk;
      } else if (hasEnded) break;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
    await reading;
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#later(() => this.#handle.write(bytes));
  }

  closeStdin(): Promise<void> {
    return this.#later(() => this.#handle.closeStdin());
  }

  kill(signal: Parameters<ProcessHandle['kill']>[0]): Promise<void> {
    return this.#later(() => this.#handle.kill(signal));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle[Symbol.asyncDispose]();
  }

  /** Accepted at once, as a connection's window does, and done when it has arrived; in order. */
  async #later(work: () => Promise<void>): Promise<void> {
    const at = performance.now() + this.#delayMs;
    const before = this.#last;
    const done = (async () => {
      await before;
      await passed(Math.max(0, at - performance.now()));
      await work();
    })();
    this.#last = done.catch(() => {});
    await before;
  }
}
