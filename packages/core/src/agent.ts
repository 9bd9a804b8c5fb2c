// Everything that a program for agents may import: nothing here reaches what deletes, applies, merges, trusts or writes configuration.
export { isLitterboxError, LitterboxError, type LitterboxErrorDetails } from './domain/errors/errors.ts';
export { PROXY_VARIABLES } from './config/upstream-proxy.ts';
export { LOCAL_HOST, parseProviderKey, type ProviderKey, providerKey } from './domain/sandbox/provider-key.ts';
export { LineSplitter } from './domain/text/line-splitter.ts';
export { shown } from './domain/text/shown.ts';
export { slugify } from './domain/sandbox/slug.ts';
export { visible, visibleName } from './domain/text/visible.ts';
export type { Operation, OperationOptions, UseCases } from './operations/declare/operation.ts';
export { parseInput } from './operations/declare/parse-input.ts';
export { readDiff } from './operations/review/read-diff.ts';
export { readLog } from './operations/review/read-log.ts';
export {
  AGENT_PROMPTS,
  AGENT_RESOURCES,
  type AgentPrompt,
  type AgentResource,
} from './operations/tools/agent-resources.ts';
export {
  AGENT_TOOLS,
  type OfferedTool,
  offeredTools,
  type ToolChoice,
  toolNames,
} from './operations/tools/agent-tools.ts';
export { boundOperation, boundSandbox } from './operations/tools/bound-sandbox.ts';
export { hintForPeople } from './operations/declare/step-command.ts';
export { agentHint } from './operations/tools/agent-hint.ts';
export { describeSetting, instructionsOf } from './operations/tools/describe-setting.ts';
export { sandboxList } from './operations/tools/sandbox-list.ts';
export { sandboxStatus } from './operations/tools/sandbox-status.ts';
export type { PermissionRequest, Tool, ToolAnswer, ToolProfile, ToolSetting } from './operations/tools/tool.ts';
export type { Approver } from './ports/person/approver.ts';
export type { AuditLog } from './ports/state/audit-log.ts';
export type { ByteStream } from './ports/common/byte-stream.ts';
export type { Asker, CallOptions } from './ports/common/call.ts';
export type { Clock } from './ports/common/clock.ts';
export { ALWAYS_LEAN, type Heap } from './ports/machine/heap.ts';
export type { DirectorySync, HostDirectory, SyncOptions, SyncReport } from './ports/machine/directory-sync.ts';
export type {
  EndpointBooks,
  EndpointGate,
  EndpointOutcome,
  EndpointRequest,
  EndRequest,
  ModelTokens,
} from './ports/network/endpoint-gate.ts';
export type { GateLedger, GatePolicy, GateReport, NetworkGate, OpenGate } from './ports/network/network-gate.ts';
export type { OpenPort } from './ports/common/open-port.ts';
export { SandboxId } from './domain/sandbox/ids.ts';
export type { Host, HostFacts } from './ports/machine/host.ts';
export type { HostGauge } from './ports/machine/host-gauge.ts';
export type { SecretSource } from './ports/person/secret-source.ts';
export type { Hosts, KnownHost, OpenedHost } from './ports/machine/hosts.ts';
export type { KeeperAnswer, KeeperRequest, Keepers } from './ports/network/keepers.ts';
export type { Forward, PortForwarder } from './ports/network/port-forwarder.ts';
export type { OutputChunk } from './ports/common/process.ts';
export type {
  ProviderFactory,
  ProviderLoader,
  ProviderMachine,
  Providers,
  WaitOptions,
} from './ports/sandbox/providers.ts';
export type { SandboxProvider } from './ports/sandbox/sandbox-provider.ts';
export type { SourceControl } from './ports/source-control/source-control.ts';
export type { StateStore } from './ports/state/state-store.ts';
export { AskProviders } from './use-cases/common/ask-providers.ts';
export { AuditRead } from './use-cases/review/audit-read.ts';
export type { PersonsGift } from './use-cases/create/create-options.ts';
export { FindSandbox } from './use-cases/common/find-sandbox.ts';
export { KeepSandbox } from './use-cases/keeper/keep-sandbox.ts';
export { OpenNetwork } from './use-cases/network/open-network.ts';
export { OpenRepository } from './use-cases/common/open-repository.ts';
export { ForwardPorts } from './use-cases/session/forward-ports.ts';
export { OpenSandboxes } from './use-cases/session/open-sandboxes.ts';
export { ReachKeeper } from './use-cases/keeper/reach-keeper.ts';
export { type Look, LookAtSandbox } from './use-cases/review/look-at-sandbox.ts';
export { SetUpSandbox } from './use-cases/prepare/set-up-sandbox.ts';
export { AGENT_USE_CASES } from './wiring/agent-use-cases.ts';
export type { Ports } from './wiring/ports.ts';
export type { UseCaseTable, Wired } from './wiring/use-case-table.ts';
export { wireUseCases } from './wiring/wire-use-cases.ts';
