import type { Clock } from '../ports/common/clock.ts';
import type { ExitStatus } from '../domain/processes/exit-status.ts';
import type { ServiceState, ServiceStatus } from './kept-service.ts';

/** What is known of one service, whoever looks after it; who waits for it to settle; and one change of it at a time. */
export class ServiceCondition {
  /** Starts after the first that nobody asked for. */
  restarts = 0;
  exit: ExitStatus | undefined;
  note: string | undefined;
  readonly #name: string;
  readonly #clock: Clock;
  #state: ServiceState = 'stopped';
  #sinceMs: number;
  #changed = new Set<() => void>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(name: string, clock: Clock) {
    this.#name = name;
    this.#clock = clock;
    this.#sinceMs = clock.wallMs();
  }

  get state(): ServiceState {
    return this.#state;
  }

  /** Somebody waits for its state to change. */
  get isAwaited(): boolean {
    return this.#changed.size > 0;
  }

  status(): ServiceStatus {
    return {
      name: this.#name,
      state: this.#state,
      sinceMs: this.#sinceMs,
      restarts: this.restarts,
      ...(this.exit && { exit: this.exit }),
      ...(this.note !== undefined && { note: this.note }),
    };
  }

  enter(state: ServiceState): void {
    this.#state = state;
    this.#sinceMs = this.#clock.wallMs();
    const waiting = this.#changed;
    this.#changed = new Set();
    for (const wake of waiting) wake();
  }

  /** Resolves when it neither starts nor stops. */
  async settled(): Promise<void> {
    while (this.#state === 'starting' || this.#state === 'stopping')
      await new Promise<void>((resolve) => this.#changed.add(resolve));
  }

  /** Runs what changes the service when the changes that were asked for before are over, however they went. */
  inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    const mine = this.#turn.then(change);
    this.#turn = mine.catch(() => {}); // told to who asked
    return mine;
  }
}
