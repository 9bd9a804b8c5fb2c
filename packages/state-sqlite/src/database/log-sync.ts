import type { LogFile } from './log-file.ts';

/** Syncs a log behind those who write to it: one sync at a time, and one more for all who asked meanwhile. */
export class LogSync {
  readonly #log: LogFile;
  /** What to do after the next sync. */
  #next: (() => void) | undefined;
  #running: Promise<void> | undefined;
  /** The sync that is going on. */
  #current: Promise<void> | undefined;
  #failure: { readonly cause: unknown } | undefined;

  constructor(log: LogFile) {
    this.#log = log;
  }

  /** @param after called when all that was committed by now is on the disk, unless a later one takes its place */
  request(after: () => void): void {
    this.#next = after;
    this.#running ??= this.#run();
  }

  /**
   * Resolves when no more than the newest request is not on the disk yet: a sync may be going on, but nobody waits behind it.
   * Throws once what went wrong since it was asked last.
   */
  async keptUp(): Promise<void> {
    while (this.#next) await this.#current?.catch(() => {}); // told below
    this.#tell();
  }

  /** Resolves when nothing is left to do. Throws once what went wrong since it was asked last. */
  async settled(): Promise<void> {
    while (this.#running) await this.#running;
    this.#tell();
  }

  #tell(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) throw failure.cause;
  }

  async #run(): Promise<void> {
    for (let after = this.#next; after; after = this.#next) {
      this.#next = undefined;
      try {
        this.#current = this.#log.sync();
        await this.#current;
        after();
      } catch (cause) {
        this.#failure = { cause };
      }
    }
    this.#running = undefined;
  }
}
