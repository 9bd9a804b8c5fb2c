import type { Approver } from '../ports/approver.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { Asker } from '../ports/call.ts';
import type { Clock } from '../ports/clock.ts';
import type { DirectorySync } from '../ports/directory-sync.ts';
import type { EndpointGate } from '../ports/endpoint-gate.ts';
import type { Heap } from '../ports/heap.ts';
import type { Host } from '../ports/host.ts';
import type { HostGauge } from '../ports/host-gauge.ts';
import type { Hosts } from '../ports/hosts.ts';
import type { Keepers } from '../ports/keepers.ts';
import type { NetworkGate } from '../ports/network-gate.ts';
import type { PoolFiller } from '../ports/pool-filler.ts';
import type { PortForwarder } from '../ports/port-forwarder.ts';
import type { Providers } from '../ports/providers.ts';
import type { SandboxPool } from '../ports/sandbox-pool.ts';
import type { SecretSource } from '../ports/secret-source.ts';
import type { SourceControl } from '../ports/source-control.ts';
import type { StateStore } from '../ports/state-store.ts';

/** What use cases need of the outside. */
export interface Ports {
  readonly providers: Providers;
  readonly sourceControl: SourceControl;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly pool: SandboxPool;
  readonly poolFiller: PoolFiller;
  readonly host: Host;
  readonly hosts: Pick<Hosts, 'open' | 'preferred'>;
  readonly hostGauge: HostGauge;
  readonly clock: Clock;
  readonly heap: Heap;
  readonly forwarder: PortForwarder;
  readonly keepers: Keepers;
  readonly directorySync: DirectorySync;
  readonly networkGate: NetworkGate;
  readonly secretSource: SecretSource;
  readonly endpointGate: EndpointGate;
  readonly approver: Approver;
  /** Absolute path of the person's repository, or of a directory in it. */
  readonly repositoryPath: string;
  /** Who acts, as the audit log names them. */
  readonly actor: string;
  readonly asker: Asker;
  readonly environment: Readonly<Record<string, string | undefined>>;
}
