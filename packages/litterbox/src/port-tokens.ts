import type {
  Approver,
  Asker,
  AuditLog,
  Clock,
  Heap,
  Host,
  HostGauge,
  Hosts,
  Keepers,
  DirectorySync,
  NetworkGate,
  PoolFiller,
  PortForwarder,
  Providers,
  SandboxPool,
  SourceControl,
  StateStore,
} from '@litterbox/core/agent';

/** Stands for a service in a list of what use cases need. */
export type Token<Service> = symbol & { readonly service?: Service };

const token = <Service>(name: string): Token<Service> => Symbol.for(`litterbox.${name}`);

export const Port = {
  Providers: token<Providers>('Providers'),
  SourceControl: token<SourceControl>('SourceControl'),
  State: token<StateStore>('State'),
  Pool: token<SandboxPool>('Pool'),
  PoolFiller: token<PoolFiller>('PoolFiller'),
  Audit: token<AuditLog>('Audit'),
  Host: token<Host>('Host'),
  Hosts: token<Hosts>('Hosts'),
  HostGauge: token<HostGauge>('HostGauge'),
  Clock: token<Clock>('Clock'),
  Heap: token<Heap>('Heap'),
  Forwarder: token<PortForwarder>('Forwarder'),
  Keepers: token<Keepers>('Keepers'),
  DirectorySync: token<DirectorySync>('DirectorySync'),
  NetworkGate: token<NetworkGate>('NetworkGate'),
  Approver: token<Approver>('Approver'),
  RepositoryPath: token<string>('RepositoryPath'),
  Actor: token<string>('Actor'),
  Asker: token<Asker>('Asker'),
  Environment: token<Readonly<Record<string, string | undefined>>>('Environment'),
};

export type Constructor = new (...args: never[]) => object;

/** Use cases, each with what its constructor takes, in order. */
export type UseCaseList = readonly (readonly [useCase: Constructor, needs: readonly (symbol | Constructor)[]])[];
