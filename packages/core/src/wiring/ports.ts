import type { Approver } from '../ports/person/approver.ts';
import type { AuditLog } from '../ports/state/audit-log.ts';
import type { Asker } from '../ports/common/call.ts';
import type { Clock } from '../ports/common/clock.ts';
import type { DirectorySync } from '../ports/machine/directory-sync.ts';
import type { EndpointGate } from '../ports/network/endpoint-gate.ts';
import type { Heap } from '../ports/machine/heap.ts';
import type { Host } from '../ports/machine/host.ts';
import type { HostGauge } from '../ports/machine/host-gauge.ts';
import type { Hosts } from '../ports/machine/hosts.ts';
import type { Keepers } from '../ports/network/keepers.ts';
import type { NetworkGate } from '../ports/network/network-gate.ts';
import type { PortForwarder } from '../ports/network/port-forwarder.ts';
import type { Providers } from '../ports/sandbox/providers.ts';
import type { SecretSource } from '../ports/person/secret-source.ts';
import type { SourceControl } from '../ports/source-control/source-control.ts';
import type { StateStore } from '../ports/state/state-store.ts';

/** What use cases need of the outside. */
export interface Ports {
  readonly providers: Providers;
  readonly sourceControl: SourceControl;
  readonly state: StateStore;
  readonly audit: AuditLog;
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
  /** Absolute path of the person's repository, or of a directory in it. Nothing where sandboxes begin with files alone. */
  readonly repositoryPath: string | undefined;
  /** Who acts, as the audit log names them. */
  readonly actor: string;
  readonly asker: Asker;
  readonly environment: Readonly<Record<string, string | undefined>>;
}
