import { type GateLedger, type GateReport } from '@litterbox/core/provider';
import type { Destination } from './parse-connect.ts';

/** How much may go through a gate. */
export interface GateLimits {
  /** To one host within an hour, in bytes. */
  readonly maxSentBytes: number;
  /** Different names below one wildcard within an hour. */
  readonly maxWildcardNames: number;
  /** That are looked up and dialled within a minute. */
  readonly maxConnectionsPerMinute: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Refusals that cost nothing, so that programs inside decide how many there are. */
const MAX_REFUSALS_PER_MINUTE = 120;
/** What is taken from the books at once of what may be sent: most that is sent is small, and each taking is a write. */
const BLOCK_BYTES = 16 * 1024;

/** What one gate writes down and counts, over books that outlive it. */
export class GateAccount {
  readonly #books: GateLedger;
  readonly #limits: GateLimits;
  readonly #nowMs: () => number;
  /** What was taken and not sent yet, by host. */
  readonly #ahead = new Map<string, { bytes: number; readonly untilMs: number }>();
  #refusals = 0;
  #leftOut = 0;
  #sinceMs: number;

  constructor(books: GateLedger, limits: GateLimits, nowMs: () => number) {
    this.#books = books;
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#sinceMs = nowMs();
  }

  /** Writes down what a connection that {@link admit} let pass came to. Rejects when that cannot be written. */
  async report(report: GateReport): Promise<void> {
    await this.#books.report(report);
  }

  /** Writes down what was refused before anything was looked up, so many a minute, and then how many were left out. */
  refused(report: Extract<GateReport, { type: 'refused' }>): void {
    if (this.#nowMs() - this.#sinceMs >= MINUTE_MS) {
      this.flush();
      this.#sinceMs = this.#nowMs();
      this.#refusals = 0;
    }
    this.#refusals += 1;
    if (this.#refusals > MAX_REFUSALS_PER_MINUTE) this.#leftOut += 1;
    else this.#tell(report);
  }

  /** Writes down how many were left out, at the end too. */
  flush(): void {
    if (this.#leftOut > 0) this.#tell({ type: 'left-out', count: this.#leftOut });
    this.#leftOut = 0;
  }

  /** Why a name that a rule allows may not be looked up now; nothing when it may. Rejects when nobody can tell. */
  async admit({ host }: Destination, rule: string, isWildcard: boolean): Promise<string | undefined> {
    const { maxConnectionsPerMinute: most, maxWildcardNames } = this.#limits;
    if (!(await this.#books.spend({ name: 'connections', amount: 1, most, windowMs: MINUTE_MS })))
      return `more than ${most} connections were opened within a minute`;
    if (!isWildcard) return undefined;
    // Whoever serves the names of that domain is told something by each: without a bound a list with a star is a way out for any text.
    const name = { name: `names:${rule}`, item: host, amount: 1, most: maxWildcardNames, windowMs: HOUR_MS };
    return (await this.#books.spend(name)) ? undefined : `the rule ${rule} has stood for too many names within an hour`;
  }

  /** Whether so much may be sent to a host; then it counts. Rejects when nobody can tell. */
  async send(host: string, bytes: number): Promise<boolean> {
    const ahead = this.#aheadOf(host);
    const missing = bytes - ahead.bytes;
    if (missing <= 0) {
      ahead.bytes -= bytes;
      return true;
    }
    const own = ahead.bytes;
    ahead.bytes = 0; // nobody else sends it meanwhile
    try {
      for (const block of new Set([Math.max(BLOCK_BYTES, missing), missing])) {
        if (!(await this.#take(host, block))) continue;
        ahead.bytes += block - missing;
        return true;
      }
    } catch (error) {
      ahead.bytes += own;
      throw error;
    }
    ahead.bytes += own;
    return false;
  }

  async #take(host: string, amount: number): Promise<boolean> {
    return await this.#books.spend({
      name: `sent:${host}`,
      amount,
      most: this.#limits.maxSentBytes,
      windowMs: HOUR_MS,
    });
  }

  #aheadOf(host: string): { bytes: number } {
    const now = this.#nowMs();
    for (const [key, { untilMs }] of this.#ahead) if (untilMs <= now) this.#ahead.delete(key);
    const known = this.#ahead.get(host) ?? { bytes: 0, untilMs: now + HOUR_MS };
    this.#ahead.set(host, known);
    return known;
  }

  #tell(report: GateReport): void {
    this.#books.report(report).catch(() => {}); // the books keep it, or count it
  }
}
