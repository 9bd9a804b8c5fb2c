import type { CallOptions } from './call.ts';

/** Time, so that tests need not wait and a clock that jumps can be played. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. For people only; order never depends on it. */
  wallMs(): number;
  /** Milliseconds on a clock that never jumps, from an arbitrary start. */
  monotonicMs(): number;
  sleep(durationMs: number, options?: CallOptions): Promise<void>;
}
