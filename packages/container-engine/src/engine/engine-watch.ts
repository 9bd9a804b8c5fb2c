import type { Duplex } from 'node:stream';

/** How often an engine is asked whether it is there, while a program of it runs. */
const EVERY_MS = 10_000;
/** How long it may take to answer: more than for a question of a person, because what ends here is work. */
const ANSWER_MS = 20_000;

/**
 * Ends the streams of an engine that has fallen silent. A stream on which a program says nothing shows nothing of that by itself, and
 * whoever waits for the program would wait for ever.
 */
export class EngineWatch {
  readonly #ask: (signal: AbortSignal) => Promise<void>;
  readonly #streams = new Set<Duplex>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param ask resolves when the engine answers; each question has a deadline */
  constructor(ask: (signal: AbortSignal) => Promise<void>) {
    this.#ask = ask;
  }

  add(stream: Duplex): void {
    this.#streams.add(stream);
    for (const event of ['end', 'close']) stream.once(event, () => this.#streams.delete(stream));
    this.#schedule();
  }

  /** Forgets all streams: what is open is its users' to end. */
  stop(): void {
    this.#streams.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#look(), EVERY_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const asked = [...this.#streams];
    if (asked.length > 0) {
      const limit = AbortSignal.timeout(ANSWER_MS);
      const late = new Promise<never>((_resolve, reject) => {
        limit.addEventListener('abort', () => reject(limit.reason as Error), { once: true });
      });
      try {
        await Promise.race([this.#ask(limit), late]);
      } catch {
        for (const stream of asked) stream.destroy();
      }
    }
    this.#timer = undefined;
    if (this.#streams.size > 0) this.#schedule();
  }
}
