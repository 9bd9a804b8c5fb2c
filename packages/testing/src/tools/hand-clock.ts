import { type CallOptions, type Clock } from '@litterbox/core/provider';

/** A clock that stands still until a test moves it. */
export interface HandClock extends Clock {
  /** Moves on, and wakes who slept no longer than that. */
  advance(durationMs: number): void;
  /** Waits until somebody sleeps: a call that a test has started has come to where it waits. */
  asleep(): Promise<void>;
  /** Moves on to whoever wakes first, again and again, until a call has ended: for one that waits more than once. */
  during<Result>(call: Promise<Result>): Promise<Result>;
  /** Waits until somebody sleeps who wakes within that time, then moves on: for what a test has started and does not wait for. */
  pass(durationMs: number): Promise<void>;
}

interface Sleeper {
  readonly wakesAtMs: number;
  wake(): void;
}

/** So often others of this program get their turn before time moves on. */
const TURNS = 20;

/** Begins at a wall time that is the same in every test. */
export function handClock(): HandClock {
  let nowMs = 0;
  const sleepers = new Set<Sleeper>();
  let watching: (() => void)[] = [];
  const advance = (durationMs: number) => {
    nowMs += durationMs;
    const due = [...sleepers].filter(({ wakesAtMs }) => wakesAtMs <= nowMs);
    for (const sleeper of due.toSorted((one, other) => one.wakesAtMs - other.wakesAtMs)) sleeper.wake();
  };
  return {
    wallMs: () => 1_700_000_000_000 + nowMs,
    monotonicMs: () => nowMs,
    advance,
    async asleep() {
      while (sleepers.size === 0) await new Promise<void>((resolve) => watching.push(resolve));
    },
    async during(call) {
      const ended = call.then(
        () => true,
        () => true,
      );
      const turn = () => new Promise<false>((resolve) => setImmediate(() => resolve(false)));
      for (;;) {
        // All that can be done without time is done first.
        for (let count = 0; count < TURNS; count += 1) if (await Promise.race([ended, turn()])) return await call;
        const first = Math.min(...[...sleepers].map(({ wakesAtMs }) => wakesAtMs));
        if (Number.isFinite(first)) advance(first - nowMs);
      }
    },
    async pass(durationMs) {
      const isDue = () => [...sleepers].some(({ wakesAtMs }) => wakesAtMs <= nowMs + durationMs);
      while (!isDue()) await new Promise<void>((resolve) => watching.push(resolve));
      advance(durationMs);
    },
    sleep: (durationMs: number, options?: CallOptions) =>
      new Promise<void>((resolve, reject) => {
        const { signal } = options ?? {};
        if (signal?.aborted) return reject(signal.reason as Error);
        const over = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', abort);
        };
        const abort = () => {
          over();
          reject(signal?.reason as Error);
        };
        const sleeper = { wakesAtMs: nowMs + durationMs, wake: () => (over(), resolve()) };
        if (durationMs <= 0) return resolve();
        sleepers.add(sleeper);
        signal?.addEventListener('abort', abort, { once: true });
        for (const seen of watching.splice(0)) seen();
        watching = [];
      }),
  };
}
