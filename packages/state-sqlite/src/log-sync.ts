import type { LogFile } from './log-file.ts';

/** Syncs a log behind those who write to it: one sync at a time, and one more for all who asked meanwhile. */
export class LogSync {
  readonly #log: LogFile;
  /** What to do after the next sync. */
  #next: (() => void) | undefined;
  #running: Promise<void> | undefined;
  #failure: { readonly cause: unknown } | undefined;

  constructor(log: LogFile) {
    this.#log = log;
  }

  /** @param after called when all that was committed by now is on the disk, unless a later one takes its place */
  request(after: () => void): void {
    this.#next = after;
    this.#running ??= this.#run();
  }

  /** Resolves when nothing is left to do. Throws once what went wrong since it was asked last. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure.cause;
  }

  async #run(): Promise<void> {
    for (let after = this.#next; after; after = this.#next) {
      this.#next = undefined;
      try {
        await this.#log.sync();
        after();
      } catch (cause) {
        this.#failure = { cause };
      }
    }
    this.#running = undefined;
  }
}
