import type { CallOptions, ProgressOptions } from '@litterbox/core/provider';
import type { FarHost } from '@litterbox/far-host';
import type { HostKey } from '@litterbox/provider-ssh';

/** A virtual machine of this computer, as the program that keeps it tells. */
export interface VirtualMachine {
  /** As the program spells it. */
  readonly name: string;
  /** `other`: it is neither up nor one that a start would bring up now, such as one that is being installed. */
  readonly state: 'running' | 'stopped' | 'other';
  /** What the program says of it, in its own word: `Running`, `Broken`. */
  readonly says: string;
  /** Why it cannot be used, whatever its state. */
  readonly refusal?: string;
}

/** What is known of a machine when it is opened. */
export interface OpenMachineOptions extends CallOptions {
  /** Keys that it showed before. Without any, the one that it shows is believed. */
  readonly hostKeys: readonly HostKey[];
}

/** A machine that answers. */
export interface OpenedMachine {
  readonly host: FarHost;
  /** Keys that were not known before. */
  readonly acceptedKeys: readonly HostKey[];
}

/** One program that keeps virtual machines: Lima, Colima, WSL2. */
export interface Way {
  /** What stands before the colon of a host's name. */
  readonly name: string;
  /** What people call it. */
  readonly title: string;
  /** What a person does once, so that there is a machine. A command. */
  setup(machine: string): string;
  /** Starts no machine. `undefined` where the program is not installed. @throws LitterboxError `PROVIDER_PROTOCOL_ERROR` `UNAVAILABLE` */
  list(options?: CallOptions): Promise<readonly VirtualMachine[] | undefined>;
  /** Resolves when it is up. @throws LitterboxError `UNAVAILABLE` with what the program said last */
  start(machine: VirtualMachine, options?: ProgressOptions): Promise<void>;
  /** Of one that runs. @throws LitterboxError as `openSshHost` and `openFarHost` */
  open(machine: VirtualMachine, options: OpenMachineOptions): Promise<OpenedMachine>;
}
