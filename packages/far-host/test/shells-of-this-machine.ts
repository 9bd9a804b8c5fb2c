import { readdirSync, readFileSync } from 'node:fs';
import { type CallOptions, LitterboxError, type OutputChunk, type ProcessHandle } from '@litterbox/core/provider';
import type { ShellTransport } from '@litterbox/far-host';
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
export class ShellsOfThisMachine implements ShellTransport {
  readonly ended: Promise<string>;
  readonly #host = localHost();
  readonly #enter: readonly string[];
  readonly #loginShell: readonly string[];
  readonly #delayMs: number;
  readonly #mark = crypto.randomUUID();
  readonly #shells = new Set<ProcessHandle>();
  readonly #gone = new AbortController();
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

  /** The numbers of its login shells, with what they became. */
  get pids(): readonly number[] {
    return readdirSync('/proc')
      .filter((name) => /^[0-9]+$/.test(name))
      .filter((name) => environmentOf(name).includes(`LOGIN=${this.#mark}`))
      .map(Number);
  }

  async start(commandLine: string, options?: CallOptions): Promise<ProcessHandle> {
    if (this.#isGone) throw wayIsGone();
    const argv = [...this.#enter, ...this.#loginShell, commandLine];
    await passed(2 * this.#delayMs); // a channel is opened, and then a command is asked for
    const env = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', LOGIN: this.#mark };
    const handle = await this.#host.spawn({ argv: argv as [string, ...string[]], stdin: 'pipe', env }, options);
    await passed(2 * this.#delayMs);
    if (this.#isGone) {
      await handle[Symbol.asyncDispose]();
      throw wayIsGone();
    }
    this.#shells.add(handle);
    void handle.exit.then(() => this.#shells.delete(handle));
    return new FarShell(handle, this.#delayMs, this.#gone.signal);
  }

  /** As when the machine is switched off: everything ends. */
  async cut(reason = 'somebody pulled the plug'): Promise<void> {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#gone.abort();
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

const wayIsGone = () => new LitterboxError('UNAVAILABLE', 'The way is gone.', { operation: 'host.connect' });

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    return ''; // it has ended
  }
}

const passed = (ms: number) => (ms === 0 ? undefined : new Promise((resolve) => setTimeout(resolve, ms)));

/** Writes that are accepted before the first of them has arrived. */
const MAX_ON_THE_WAY = 64;

/** Every byte takes its time, in both directions, and so does the end. Of a way that is gone nothing more comes. */
class FarShell implements ProcessHandle {
  readonly exit: ProcessHandle['exit'];
  readonly #handle: ProcessHandle;
  readonly #delayMs: number;
  readonly #gone: AbortSignal;
  #last: Promise<unknown> = Promise.resolve();
  #onTheWay = 0;

  constructor(handle: ProcessHandle, delayMs: number, gone: AbortSignal) {
    this.#handle = handle;
    this.#delayMs = delayMs;
    this.#gone = gone;
    this.exit = new Promise((resolve, reject) => {
      gone.addEventListener('abort', () => reject(wayIsGone()), { once: true });
      void handle.exit.then(async (status) => {
        await passed(delayMs);
        if (!gone.aborted) resolve(status);
      });
    });
    this.exit.catch(() => {}); // whoever waits for it is told
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
    this.#gone.addEventListener('abort', () => wake(), { once: true });
    for (;;) {
      if (this.#gone.aborted) return;
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

  /** What is behind a way that is gone is out of reach: it ends by itself, by the end of its stdin. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#gone.aborted) await this.#handle[Symbol.asyncDispose]();
  }

  /** Accepted at once, as a connection's window does, up to so much that is on its way; done in order. */
  async #later(work: () => Promise<void>): Promise<void> {
    const at = performance.now() + this.#delayMs;
    const before = this.#last;
    const done = (async () => {
      await before;
      await passed(Math.max(0, at - performance.now()));
      await work();
    })();
    this.#last = done.catch(() => {});
    this.#onTheWay += 1;
    void this.#last.then(() => (this.#onTheWay -= 1));
    if (this.#onTheWay > MAX_ON_THE_WAY) await this.#last;
  }
}
