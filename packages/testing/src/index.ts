export { atFailpoint } from './tools/at-failpoint.ts';
export { EmptyNetwork } from './remote/empty-network.ts';
export { Fixture } from './fixtures/fixture.ts';
export { type HandClock, handClock } from './tools/hand-clock.ts';
export type { MachineProcess, Program } from './machine/machine-process.ts';
export { type KeyServer, keyServer } from './remote/key-server.ts';
export { makeCertificate } from './remote/make-certificate.ts';
export { MachineNetwork } from './remote/machine-network.ts';
export { memoryApprover } from './ports/memory-approver.ts';
export { memoryAudit } from './state/memory-audit.ts';
export { memoryForwarder } from './ports/memory-forwarder.ts';
export { type MemoryEndpoint, memoryEndpoints } from './ports/memory-endpoints.ts';
export { memoryGate } from './ports/memory-gate.ts';
export { memorySecrets } from './ports/memory-secrets.ts';
export { type GaugeAnswer, memoryGauge } from './ports/memory-gauge.ts';
export { memoryHost } from './ports/memory-host.ts';
export { memoryKeepers } from './ports/memory-keepers.ts';
export { memoryPool } from './state/memory-pool.ts';
export { memoryProvider, type MemoryProviderOptions } from './provider/memory-provider.ts';
export type { MemorySandbox } from './provider/memory-sandbox.ts';
export { memorySourceControl } from './repository/memory-source-control.ts';
export { memoryState } from './state/memory-state.ts';
export { memoryStream } from './tools/memory-stream.ts';
export type { Override } from './tools/overridden.ts';
export { PersonalRepository } from './repository/personal-repository.ts';
export { RepositoryFixture } from './fixtures/repository-fixture.ts';
export { realClock } from './tools/real-clock.ts';
export { type FirstFile, RepositoryShelf } from './repository/repository-shelf.ts';
export { type RemoteLogin, RemoteFixture, type RemoteFixtureOptions } from './fixtures/remote-fixture.ts';
export type { Door, SshLogin, SshMachine } from './remote/ssh-machine.ts';
export { SshServer, type SshServerOptions } from './remote/ssh-server.ts';
export { SandboxShelf } from './provider/sandbox-shelf.ts';
export { type Owner, StateShelf } from './state/state-shelf.ts';
export {
  type Left,
  NOTHING_LEFT,
  useCaseFixture,
  type UseCaseFixture,
  type UseCaseFixtureOptions,
} from './fixtures/use-case-fixture.ts';
export { Line, type LineOptions } from './remote/line.ts';
export { pidsOf } from './tools/pids-of.ts';
