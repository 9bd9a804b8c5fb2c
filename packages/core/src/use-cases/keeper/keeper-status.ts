import type { AssignedPort } from '../../ports/state/state-store.ts';
import type { ServiceStatus } from '../../services/kept-service.ts';
import type { WayStatus } from './kept-way.ts';

/** A port of a sandbox as its keeper sees it. */
export interface PortStatus extends AssignedPort {
  /** The number before another program took that. */
  readonly movedFrom?: number;
  /** Whether a program inside listens. Known when it was tried. */
  readonly answers?: boolean;
}

/** A keeper's knowledge of its services, its ports and its ways out. */
export interface KeeperStatus {
  readonly services: readonly ServiceStatus[];
  readonly ports: readonly PortStatus[];
  /** Absent where there is to be none. */
  readonly network?: WayStatus;
  /** All of them together. Absent where there is to be none. */
  readonly endpoints?: WayStatus;
}

/** The answer of `logs`: text as in `raw-text.ts`. */
export interface ServiceOutput {
  /** The name of the service that printed it. */
  readonly service: string;
  /** Hostile. */
  readonly text: string;
}
