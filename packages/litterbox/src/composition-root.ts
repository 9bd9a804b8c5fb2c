// The only file that imports inversify. No decorators: use cases are plain classes with plain constructors.
import 'reflect-metadata/lite';
import {
  AccessFiles,
  type Approver,
  AttachProcess,
  type AuditLog,
  ChangeRunState,
  ChooseProvider,
  type Clock,
  CreateSandbox,
  CutMilestone,
  DecidePolicy,
  DeleteSandbox,
  FindSandbox,
  type Host,
  IntegrateChanges,
  ListSandboxes,
  OpenRepository,
  OpenSandboxes,
  ReadAudit,
  ReadHistory,
  Reconcile,
  RecordRevision,
  RestoreRevision,
  RunCommand,
  type SandboxProvider,
  SettleSandbox,
  SetUpSandbox,
  type SourceControl,
  type StateStore,
  TrustConfig,
  type UseCases,
} from '@litterbox/core';
import { Container, type ServiceIdentifier } from 'inversify';

const token = <Service>(name: string) => Symbol.for(`litterbox.${name}`) as ServiceIdentifier<Service>;

const Port = {
  Providers: token<readonly SandboxProvider[]>('Providers'),
  SourceControl: token<SourceControl>('SourceControl'),
  State: token<StateStore>('State'),
  Audit: token<AuditLog>('Audit'),
  Host: token<Host>('Host'),
  Clock: token<Clock>('Clock'),
  Approver: token<Approver>('Approver'),
  RepositoryPath: token<string>('RepositoryPath'),
  Actor: token<string>('Actor'),
  Environment: token<Readonly<Record<string, string | undefined>>>('Environment'),
};

/** What the use cases are wired from. */
export interface Wiring {
  readonly providers: readonly SandboxProvider[];
  readonly sourceControl: SourceControl;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly host: Host;
  readonly clock: Clock;
  readonly approver: Approver;
  readonly repositoryPath: string;
  readonly actor: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type Constructor = new (...args: never[]) => object;

/** Each use case with what its constructor takes, in order. */
const USE_CASES: readonly (readonly [useCase: Constructor, needs: readonly (ServiceIdentifier | Constructor)[]])[] = [
  [OpenRepository, [Port.SourceControl, Port.RepositoryPath]],
  [OpenSandboxes, [Port.Providers]],
  [FindSandbox, [Port.State, OpenRepository]],
  [ChooseProvider, [Port.Providers]],
  [DecidePolicy, [Port.Host, Port.State, Port.Environment]],
  [RecordRevision, [Port.State, OpenRepository]],
  [SetUpSandbox, [Port.State, RecordRevision]],
  [
    CreateSandbox,
    [
      OpenRepository,
      Port.State,
      Port.Audit,
      DecidePolicy,
      ChooseProvider,
      OpenSandboxes,
      SetUpSandbox,
      Port.Clock,
      Port.Actor,
    ],
  ],
  [RunCommand, [FindSandbox, OpenSandboxes, Port.State, Port.Audit, RecordRevision, Port.Actor]],
  [AttachProcess, [FindSandbox, OpenSandboxes, Port.State, Port.Audit, RecordRevision, Port.Actor]],
  [AccessFiles, [FindSandbox, OpenSandboxes, Port.State, Port.Audit, RecordRevision, Port.Actor]],
  [SettleSandbox, [Port.State, OpenSandboxes, RecordRevision]],
  [CutMilestone, [FindSandbox, OpenRepository, Port.State, Port.Audit, SettleSandbox, Port.Actor]],
  [DeleteSandbox, [FindSandbox, OpenRepository, Port.State, Port.Audit, OpenSandboxes, SettleSandbox, Port.Actor]],
  [
    IntegrateChanges,
    [FindSandbox, OpenRepository, Port.State, Port.Audit, Port.Approver, DeleteSandbox, SettleSandbox, Port.Actor],
  ],
  [ChangeRunState, [FindSandbox, Port.State, Port.Audit, OpenSandboxes, Port.Actor]],
  [
    RestoreRevision,
    [FindSandbox, OpenRepository, Port.State, Port.Audit, OpenSandboxes, RecordRevision, SetUpSandbox, Port.Actor],
  ],
  [ListSandboxes, [OpenRepository, Port.State, Port.Providers]],
  [TrustConfig, [OpenRepository, DecidePolicy, Port.State, Port.Audit, Port.Actor]],
  [ReadHistory, [FindSandbox, OpenRepository, Port.Audit]],
  [ReadAudit, [FindSandbox, OpenRepository, Port.Audit]],
  [Reconcile, [OpenRepository, Port.State, OpenSandboxes, DeleteSandbox, RestoreRevision]],
];

export function compose(wiring: Wiring): UseCases {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(Port.Providers).toConstantValue(wiring.providers);
  container.bind(Port.SourceControl).toConstantValue(wiring.sourceControl);
  container.bind(Port.State).toConstantValue(wiring.state);
  container.bind(Port.Audit).toConstantValue(wiring.audit);
  container.bind(Port.Host).toConstantValue(wiring.host);
  container.bind(Port.Clock).toConstantValue(wiring.clock);
  container.bind(Port.Approver).toConstantValue(wiring.approver);
  container.bind(Port.RepositoryPath).toConstantValue(wiring.repositoryPath);
  container.bind(Port.Actor).toConstantValue(wiring.actor);
  container.bind(Port.Environment).toConstantValue(wiring.environment);
  for (const [UseCase, needs] of USE_CASES) {
    container
      .bind(UseCase as ServiceIdentifier<object>)
      .toResolvedValue((...args: unknown[]) => new UseCase(...(args as never[])), needs as ServiceIdentifier[]);
  }
  return {
    get: <UseCase extends object>(useCase: new (...args: never[]) => UseCase) =>
      container.get(useCase as ServiceIdentifier<UseCase>),
  };
}
