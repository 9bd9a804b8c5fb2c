import { setTimeout } from 'node:timers/promises';
import { type Clock } from '@litterbox/core/provider';

/** The clock of this machine. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(durationMs, options) {
    const signal = options?.signal;
    signal?.throwIfAborted();
    try {
      await setTimeout(durationMs, undefined, signal ? { signal } : {});
    } catch (error) {
      signal?.throwIfAborted(); // the caller's own reason, not Node's AbortError
      throw error;
    }
  },
};
