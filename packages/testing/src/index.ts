export { atFailpoint } from './tools/at-failpoint.ts';
export { EmptyNetwork } from './remote/empty-network.ts';
export { Fixture } from './fixtures/fixture.ts';
export { type HandClock, handClock } from './tools/hand-clock.ts';
export { type KeyServer, keyServer } from './remote/key-server.ts';
export { makeCertificate } from './remote/make-certificate.ts';
export { MachineNetwork } from './remote/machine-network.ts';
export type { Override } from './tools/overridden.ts';
export { RepositoryFixture } from './fixtures/repository-fixture.ts';
export { type RemoteLogin, RemoteFixture, type RemoteFixtureOptions } from './fixtures/remote-fixture.ts';
export type { Door, SshLogin, SshMachine } from './remote/ssh-machine.ts';
export { SshServer, type SshServerOptions } from './remote/ssh-server.ts';
export {
  type Left,
  NOTHING_LEFT,
  useCaseFixture,
  type UseCaseFixture,
  type UseCaseFixtureOptions,
} from './fixtures/use-case-fixture.ts';
export { Line, type LineOptions } from './remote/line.ts';
export { pidsOf } from './tools/pids-of.ts';
