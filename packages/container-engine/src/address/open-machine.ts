import type { CallOptions, Host } from '@litterbox/core/provider';

/** How a machine is logged in at. */
export interface MachineLogin {
  /** `[USER@]HOST[:PORT]`. */
  readonly destination: string;
  /** Absolute path of a private key that is tried first. */
  readonly identityFile?: string;
}

/**
 * Logs in on another machine, and verifies that it is the one that is meant before anything else. Handed to the providers of containers,
 * which know no way to another machine. Whoever opens it disposes it.
 */
export type OpenMachine = (login: MachineLogin, options?: CallOptions) => Promise<Host>;
