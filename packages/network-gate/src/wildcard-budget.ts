const HOUR_MS = 3_600_000;

/**
 * How many different names a wildcard may stand for within an hour. Each name that is looked up tells whoever serves the names of
 * that domain something, so that without a bound a list with a star is a way out for any text.
 */
export class WildcardBudget {
  readonly #most: number;
  readonly #nowMs: () => number;
  readonly #names = new Map<string, Map<string, number>>();

  constructor(most: number, nowMs: () => number) {
    this.#most = most;
    this.#nowMs = nowMs;
  }

  /** Whether the rule may stand for this name now. */
  admit(rule: string, host: string): boolean {
    const now = this.#nowMs();
    const names = this.#names.get(rule) ?? new Map<string, number>();
    this.#names.set(rule, names);
    for (const [name, sinceMs] of names) {
      if (now - sinceMs < HOUR_MS) break; // oldest first
      names.delete(name);
    }
    if (names.has(host)) return true;
    if (names.size >= this.#most) return false;
    names.set(host, now);
    return true;
  }
}
