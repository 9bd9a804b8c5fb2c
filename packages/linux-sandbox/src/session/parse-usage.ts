import type { ResourceUsage } from '@litterbox/core/provider';

/** What a machine counts is below 2^60. */
const COUNT = /^\d{1,18}$/;

/**
 * Reads what a machine says that a sandbox uses: memory in bytes, processor time in nanoseconds and the number of processes, a line each. A line that
 * is no number is not told.
 */
export function parseUsage(text: string): ResourceUsage {
  const [memoryBytes, cpuNanoseconds, processes] = text
    .split('\n', 3)
    .map((line) => (COUNT.test(line) ? Number(line) : undefined));
  return {
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(cpuNanoseconds !== undefined && { cpuMs: cpuNanoseconds / 1e6 }),
    ...(processes !== undefined && { processes }),
  };
}
