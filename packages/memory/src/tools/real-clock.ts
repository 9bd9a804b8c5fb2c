import { setTimeout } from 'node:timers/promises';
import { type Clock } from '@litterbox/core/provider';

/** The clock of this machine: for the kit, which measures what passes. */
export const realClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (durationMs, options) => {
    try {
      await setTimeout(durationMs, undefined, { signal: options?.signal });
    } catch (error) {
      throw options?.signal?.aborted ? options.signal.reason : error;
    }
  },
};
