import { type Clock } from '@litterbox/core/provider';

/** The clock of this machine. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6, // `performance` takes Node a millisecond to load
  async sleep(durationMs, options) {
    const signal = options?.signal;
    signal?.throwIfAborted();
    const { setTimeout } = await import('node:timers/promises');
    try {
      await setTimeout(durationMs, undefined, signal ? { signal } : {});
    } catch (error) {
      signal?.throwIfAborted(); // the caller's own reason, not Node's AbortError
      throw error;
    }
  },
};
