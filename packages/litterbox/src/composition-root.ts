// The only file that imports inversify. No decorators: use cases are plain classes with plain constructors.
import 'reflect-metadata/lite';
import { type Ports, type UseCases, type UseCaseTable, wireUseCases } from '@litterbox/core/agent';
import { Container, type ServiceIdentifier } from 'inversify';

/** @param table of those that the program may reach; none else can be got */
export function compose(ports: Ports, table: UseCaseTable): UseCases {
  const container = new Container({ defaultScope: 'Singleton' });
  const wired = wireUseCases(ports, table, (UseCase) => container.get(UseCase as ServiceIdentifier<object>));
  for (const UseCase of Object.values(table))
    container.bind(UseCase as ServiceIdentifier<object>).toDynamicValue(() => new UseCase(wired as never));
  return {
    get: <UseCase extends object>(useCase: new (...args: never[]) => UseCase) =>
      container.get(useCase as ServiceIdentifier<UseCase>),
  };
}
