import type { MachineLoad } from '../../domain/sandbox/machine-load.ts';
import type { CallOptions } from '../common/call.ts';

/** Host gauge port: asks a machine of the user's how much it has to spare. */
export interface HostGauge {
  /**
   * Connects where it has to, asks once, and changes nothing there. A machine that is switched off is not started.
   *
   * @param name as {@link Hosts.open} takes it
   * @throws LitterboxError as {@link Hosts.open}; `UNSUPPORTED` for a machine that does not tell; `PROVIDER_PROTOCOL_ERROR` for an answer that is none
   */
  measure(name: string, options?: CallOptions): Promise<MachineLoad>;
}
