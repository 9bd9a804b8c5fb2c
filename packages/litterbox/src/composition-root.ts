// The only file that imports inversify. No decorators: use cases are plain classes with plain constructors.
import 'reflect-metadata/lite';
import type { Approver, Asker, Providers, UseCases } from '@litterbox/core/agent';
import { Container, type ServiceIdentifier } from 'inversify';
import type { LitterboxParts } from './litterbox-options.ts';
import { Port, type UseCaseList } from './port-tokens.ts';

/** What the use cases are wired from. */
export interface Wiring extends LitterboxParts {
  readonly providers: Providers;
  readonly approver: Approver;
  readonly repositoryPath: string;
  readonly actor: string;
  readonly asker: Asker;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** @param useCases those that the program may reach; none else can be got */
export function compose(wiring: Wiring, useCases: UseCaseList): UseCases {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(Port.Providers).toConstantValue(wiring.providers);
  container.bind(Port.SourceControl).toConstantValue(wiring.sourceControl);
  container.bind(Port.State).toConstantValue(wiring.state);
  container.bind(Port.Pool).toConstantValue(wiring.pool);
  container.bind(Port.PoolFiller).toConstantValue(wiring.poolFiller);
  container.bind(Port.Audit).toConstantValue(wiring.audit);
  container.bind(Port.Host).toConstantValue(wiring.host);
  container.bind(Port.Hosts).toConstantValue(wiring.hosts);
  container.bind(Port.HostGauge).toConstantValue(wiring.hostGauge);
  container.bind(Port.Clock).toConstantValue(wiring.clock);
  container.bind(Port.Heap).toConstantValue(wiring.heap);
  container.bind(Port.Forwarder).toConstantValue(wiring.forwarder);
  container.bind(Port.Keepers).toConstantValue(wiring.keepers);
  container.bind(Port.DirectorySync).toConstantValue(wiring.directorySync);
  container.bind(Port.NetworkGate).toConstantValue(wiring.networkGate);
  container.bind(Port.Approver).toConstantValue(wiring.approver);
  container.bind(Port.RepositoryPath).toConstantValue(wiring.repositoryPath);
  container.bind(Port.Actor).toConstantValue(wiring.actor);
  container.bind(Port.Asker).toConstantValue(wiring.asker);
  container.bind(Port.Environment).toConstantValue(wiring.environment);
  for (const [UseCase, needs] of useCases) {
    container
      .bind(UseCase as ServiceIdentifier<object>)
      .toResolvedValue((...args: unknown[]) => new UseCase(...(args as never[])), needs as ServiceIdentifier[]);
  }
  return {
    get: <UseCase extends object>(useCase: new (...args: never[]) => UseCase) =>
      container.get(useCase as ServiceIdentifier<UseCase>),
  };
}
