import type { Assurance, ResourceLimits } from '@litterbox/core/provider';

/** A sandbox as it should be, to be held against what the kernel says. */
export interface ExpectedPlace {
  readonly provider: string;
  /** How it is made: `overlay, bubblewrap 0.8.0`. */
  readonly mechanism: string;
  /** Its control groups end with this. */
  readonly id: string;
  /** Absolute path of the workspace inside. */
  readonly workdir: string;
  /** Whether it has a user namespace, in which no user but its own exists. */
  readonly hasOwnUsers: boolean;
  /** Whether `/dev` has to be read-only, because its directory belongs to the sandbox's own user. @defaultValue false */
  readonly hasReadOnlyDevices?: boolean;
  readonly limits: Required<Pick<ResourceLimits, 'memoryBytes' | 'cpus' | 'processes'>> &
    Pick<ResourceLimits, 'diskBytes'>;
  /** Names that processes may find in the environment of the first one, because they are the sandbox's own. @defaultValue none */
  readonly environment?: readonly string[];
  /** Why there are no limits, as the step that mends it. Absent when there should be some. */
  readonly withoutLimits?: string;
  /** The step that bounds the disk where nobody asked for it. @defaultValue a file system for the state directory */
  readonly withoutDisk?: string;
  readonly readable: Assurance['readable'];
  readonly masked?: Assurance['masked'];
  readonly unreachable?: Assurance['unreachable'];
}
