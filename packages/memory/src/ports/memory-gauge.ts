import { type HostGauge, LitterboxError, type MachineLoad } from '@litterbox/core/provider';

/** What a machine in memory answers: its load, an error, or nothing for ever. */
export type GaugeAnswer = Partial<MachineLoad> | LitterboxError | 'silent';

/** Idle, near, and large enough for four sandboxes. */
const IDLE: MachineLoad = {
  memoryBytes: 16 * 2 ** 30,
  availableBytes: 16 * 2 ** 30,
  processors: 4,
  load: 0,
  roundTripMs: 1,
};

/** Machines that answer as a test says. What a test leaves out of one is that of an idle machine. */
export function memoryGauge(machines: Readonly<Record<string, GaugeAnswer>> = {}): HostGauge {
  return {
    async measure(name, options) {
      options?.signal?.throwIfAborted();
      const answer = machines[name];
      if (answer === undefined)
        throw new LitterboxError('NOT_FOUND', `There is no host ${name}.`, { operation: 'host.open' });
      if (answer === 'silent')
        return await new Promise<never>((_resolve, reject) => {
          options?.signal?.addEventListener('abort', () => reject(options.signal?.reason as Error), { once: true });
        });
      if (answer instanceof LitterboxError) throw answer;
      return { ...IDLE, ...answer };
    },
  };
}
