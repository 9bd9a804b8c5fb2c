import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { GateLedger, GateReport } from '../../ports/network/network-gate.ts';
import type { SandboxRecord, Spending, StateStore } from '../../ports/state/state-store.ts';

/** After the first failed write, and after each further one twice as long. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** That could not be written and wait; more than that are counted. */
const MAX_WAITING = 256;

/**
 * What one sandbox's way out writes into the audit log and takes from budgets, one after the other. After a write that failed
 * nothing is written or taken for a while, which grows; then an entry that tells of it has to be written before anything else.
 */
export class NetworkLedger implements GateLedger {
  readonly #record: Pick<SandboxRecord, 'id' | 'repositoryId'>;
  readonly #audit: AuditLog;
  readonly #state: Pick<StateStore, 'spend'>;
  readonly #clock: Clock;
  #last: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown; readonly pauseMs: number; readonly againMs: number } | undefined;
  #waiting: GateReport[] = [];
  #leftOut = 0;

  constructor(
    record: Pick<SandboxRecord, 'id' | 'repositoryId'>,
    audit: AuditLog,
    state: Pick<StateStore, 'spend'>,
    clock: Clock,
  ) {
    this.#record = record;
    this.#audit = audit;
    this.#state = state;
    this.#clock = clock;
  }

  /** Whether all that was reported is written. */
  get isWritten(): boolean {
    return this.#failure === undefined;
  }

  /** Rejects when it could not be written. What was opened is refused then; all else is written once that can be done again. */
  async report(report: GateReport): Promise<void> {
    await this.#inTurn(async () => {
      try {
        await this.#unlessFailed(() => this.#write(report));
      } catch (error) {
        if (report.type !== 'opened') this.#keep(report);
        throw error;
      }
    });
  }

  /** Rejects when nothing can be written. */
  async spend(spending: Spending): Promise<boolean> {
    return await this.#inTurn(() => this.#unlessFailed(() => this.#state.spend(this.#record.repositoryId, spending)));
  }

  /** Resolves when all that was reported is written, or cannot be written now. */
  async settled(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#failure) await this.#resume().catch(() => {});
    });
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return await result;
  }

  async #unlessFailed<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#failure) {
      if (this.#clock.monotonicMs() < this.#failure.againMs) throw this.#failure.error;
      await this.#resume();
    }
    return await this.#attempt(work);
  }

  /** Writes that nothing could be written, and what waits since. */
  async #resume(): Promise<void> {
    await this.#attempt(async () => {
      await this.#entry('resumed', { leftOut: this.#leftOut }, true);
      this.#leftOut = 0;
      for (let report = this.#waiting[0]; report; report = this.#waiting[0]) {
        await this.#write(report);
        this.#waiting.shift();
      }
    });
    this.#failure = undefined;
  }

  async #attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const pauseMs = Math.min((this.#failure?.pauseMs ?? FIRST_PAUSE_MS / 2) * 2, LONGEST_PAUSE_MS);
      this.#failure = { error, pauseMs, againMs: this.#clock.monotonicMs() + pauseMs };
      throw error;
    }
  }

  #keep(report: GateReport): void {
    if (report.type === 'left-out') this.#leftOut += report.count;
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(report);
    else this.#leftOut += 1;
  }

  async #write({ type, ...input }: GateReport): Promise<void> {
    await this.#entry(type, input, type !== 'opened'); // what went out has to outlive a power cut
  }

  async #entry(type: string, input: Readonly<Record<string, unknown>>, isRead: boolean): Promise<void> {
    const { id: sandbox, repositoryId } = this.#record;
    const operation = `network-${type}`;
    const finish = await this.#audit.start({ operation, actor: 'sandbox', repositoryId, sandbox, input, isRead });
    await finish(type === 'refused' ? 'error' : 'ok', {});
  }
}
