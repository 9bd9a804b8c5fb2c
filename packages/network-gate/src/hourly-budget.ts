const HOUR_MS = 3_600_000;
/** Keys that are remembered; the rules bound how many there are, this bounds what a wildcard makes of them. */
const MAX_KEYS = 4096;

/** How much of something each key may use within an hour, counted from its first use. */
export class HourlyBudget {
  readonly #most: number;
  readonly #nowMs: () => number;
  readonly #spent = new Map<string, { readonly sinceMs: number; amount: number }>();

  constructor(most: number, nowMs: () => number) {
    this.#most = most;
    this.#nowMs = nowMs;
  }

  /** Whether there was enough left; then it is spent. */
  spend(key: string, amount: number): boolean {
    const now = this.#nowMs();
    let entry = this.#spent.get(key);
    if (!entry || now - entry.sinceMs >= HOUR_MS) {
      this.#spent.delete(key);
      entry = { sinceMs: now, amount: 0 };
      this.#forget(now);
      if (this.#spent.size >= MAX_KEYS) return false;
      this.#spent.set(key, entry);
    }
    if (entry.amount + amount > this.#most) return false;
    entry.amount += amount;
    return true;
  }

  /** Oldest first, as they were put in. */
  #forget(now: number): void {
    for (const [key, { sinceMs }] of this.#spent) {
      if (now - sinceMs < HOUR_MS) return;
      this.#spent.delete(key);
    }
  }
}
