import { type Clock } from '@litterbox/core/provider';

/** Lets so many begin at once, and then so many a second; who comes too early waits. */
export class Turns {
  readonly #atOnce: number;
  readonly #everyMs: number;
  readonly #clock: Clock;
  /** When the next one begins who comes after all that may begin at once. */
  #nextMs: number;

  constructor(atOnce: number, perSecond: number, clock: Clock) {
    this.#atOnce = atOnce;
    this.#everyMs = 1000 / perSecond;
    this.#clock = clock;
    this.#nextMs = clock.monotonicMs();
  }

  /** Resolves when it is one's turn. Rejects with the signal's reason. */
  async next(signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonicMs();
    this.#nextMs = Math.max(this.#nextMs, now) + this.#everyMs;
    const waitMs = this.#nextMs - now - this.#atOnce * this.#everyMs;
    if (waitMs > 0) await this.#clock.sleep(waitMs, { signal });
  }
}
