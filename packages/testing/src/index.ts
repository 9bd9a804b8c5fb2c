export { atFailpoint } from './at-failpoint.ts';
export { EmptyNetwork } from './empty-network.ts';
export { Fixture } from './fixture.ts';
export { type HandClock, handClock } from './hand-clock.ts';
export type { MachineProcess, Program } from './machine/machine-process.ts';
export { MachineNetwork } from './machine-network.ts';
export { memoryApprover } from './memory-approver.ts';
export { memoryAudit } from './memory-audit.ts';
export { memoryForwarder } from './memory-forwarder.ts';
export { memoryGate } from './memory-gate.ts';
export { type GaugeAnswer, memoryGauge } from './memory-gauge.ts';
export { memoryHost } from './memory-host.ts';
export { memoryKeepers } from './memory-keepers.ts';
export { memoryPool } from './memory-pool.ts';
export { memoryProvider, type MemoryProviderOptions } from './memory-provider.ts';
export type { MemorySandbox } from './memory-sandbox.ts';
export { memorySourceControl } from './memory-source-control.ts';
export { memoryState } from './memory-state.ts';
export { memoryStream } from './memory-stream.ts';
export type { Override } from './overridden.ts';
export { PersonalRepository } from './personal-repository.ts';
export { RepositoryFixture } from './repository-fixture.ts';
export { realClock } from './real-clock.ts';
export { type FirstFile, RepositoryShelf } from './repository-shelf.ts';
export { type RemoteLogin, RemoteFixture, type RemoteFixtureOptions } from './remote-fixture.ts';
export type { Door, SshLogin, SshMachine } from './ssh-machine.ts';
export { SshServer, type SshServerOptions } from './ssh-server.ts';
export { SandboxShelf } from './sandbox-shelf.ts';
export { type Owner, StateShelf } from './state-shelf.ts';
export {
  type Left,
  NOTHING_LEFT,
  useCaseFixture,
  type UseCaseFixture,
  type UseCaseFixtureOptions,
} from './use-case-fixture.ts';
export { Line, type LineOptions } from './line.ts';
export { pidsOf } from './pids-of.ts';
