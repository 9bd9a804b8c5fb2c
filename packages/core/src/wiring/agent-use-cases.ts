import { FindShell } from '../use-cases/work/find-shell.ts';
import { ReadLines } from '../use-cases/work/read-lines.ts';
import { SearchFiles } from '../use-cases/work/search-files.ts';
import { AccessFiles } from '../use-cases/work/access-files.ts';
import { AskProviders } from '../use-cases/common/ask-providers.ts';
import { AssignPorts } from '../use-cases/keeper/assign-ports.ts';
import { AuditRead } from '../use-cases/review/audit-read.ts';
import { BringArtefacts } from '../use-cases/decide/bring-artefacts.ts';
import { ChangeWorkspace } from '../use-cases/work/change-workspace.ts';
import { ChooseProvider } from '../use-cases/decide/choose-provider.ts';
import { CloneRepository } from '../use-cases/work/clone-repository.ts';
import { ControlServices } from '../use-cases/work/control-services.ts';
import { CreateSandbox } from '../use-cases/create/create-sandbox.ts';
import { MakeSandbox } from '../use-cases/create/make-sandbox.ts';
import { PlanSandbox } from '../use-cases/create/plan-sandbox.ts';
import { StartKeeper } from '../use-cases/create/start-keeper.ts';
import { CutMilestone } from '../use-cases/review/cut-milestone.ts';
import { DecidePolicy } from '../use-cases/decide/decide-policy.ts';
import { EditFile } from '../use-cases/work/edit-file.ts';
import { FindSandbox } from '../use-cases/common/find-sandbox.ts';
import { ForwardPorts } from '../use-cases/session/forward-ports.ts';
import { HoldSecrets } from '../use-cases/common/hold-secrets.ts';
import { InspectSandbox } from '../use-cases/work/inspect-sandbox.ts';
import { InstallImage } from '../use-cases/prepare/install-image.ts';
import { KeepPrinted } from '../use-cases/record/keep-printed.ts';
import { KeepSandbox } from '../use-cases/keeper/keep-sandbox.ts';
import { ListFiles } from '../use-cases/work/list-files.ts';
import { ListSandboxes } from '../use-cases/review/list-sandboxes.ts';
import { LookAtSandbox } from '../use-cases/review/look-at-sandbox.ts';
import { OpenEndpoints } from '../use-cases/network/open-endpoints.ts';
import { OpenNetwork } from '../use-cases/network/open-network.ts';
import { OpenRepository } from '../use-cases/common/open-repository.ts';
import { OpenSandboxes } from '../use-cases/session/open-sandboxes.ts';
import { PatchFile } from '../use-cases/work/patch-file.ts';
import { ChooseHost } from '../use-cases/decide/choose-host.ts';
import { ReachKeeper } from '../use-cases/keeper/reach-keeper.ts';
import { ReadClone } from '../use-cases/work/read-clone.ts';
import { ReadCompute } from '../use-cases/review/read-compute.ts';
import { ReadHistory } from '../use-cases/review/read-history.ts';
import { ReadNotes } from '../use-cases/review/read-notes.ts';
import { RecordRevision } from '../use-cases/record/record-revision.ts';
import { RunCommand } from '../use-cases/work/run-command.ts';
import { SetUpSandbox } from '../use-cases/prepare/set-up-sandbox.ts';
import { SettleSandbox } from '../use-cases/record/settle-sandbox.ts';
import { SpillOutput } from '../use-cases/work/spill-output.ts';
import { useCaseTable } from './use-case-table.ts';

/** What agents may ask for, and what that needs. */
export const AGENT_USE_CASES = useCaseTable({
  accessFiles: AccessFiles,
  askProviders: AskProviders,
  assignPorts: AssignPorts,
  auditRead: AuditRead,
  bringArtefacts: BringArtefacts,
  changeWorkspace: ChangeWorkspace,
  chooseProvider: ChooseProvider,
  cloneRepository: CloneRepository,
  controlServices: ControlServices,
  createSandbox: CreateSandbox,
  cutMilestone: CutMilestone,
  decidePolicy: DecidePolicy,
  editFile: EditFile,
  findSandbox: FindSandbox,
  findShell: FindShell,
  forwardPorts: ForwardPorts,
  holdSecrets: HoldSecrets,
  inspectSandbox: InspectSandbox,
  installImage: InstallImage,
  keepPrinted: KeepPrinted,
  keepSandbox: KeepSandbox,
  listFiles: ListFiles,
  listSandboxes: ListSandboxes,
  lookAtSandbox: LookAtSandbox,
  makeSandbox: MakeSandbox,
  openEndpoints: OpenEndpoints,
  openNetwork: OpenNetwork,
  openRepository: OpenRepository,
  openSandboxes: OpenSandboxes,
  patchFile: PatchFile,
  planSandbox: PlanSandbox,
  chooseHost: ChooseHost,
  reachKeeper: ReachKeeper,
  readClone: ReadClone,
  readCompute: ReadCompute,
  readHistory: ReadHistory,
  readLines: ReadLines,
  readNotes: ReadNotes,
  recordRevision: RecordRevision,
  runCommand: RunCommand,
  searchFiles: SearchFiles,
  setUpSandbox: SetUpSandbox,
  settleSandbox: SettleSandbox,
  spillOutput: SpillOutput,
  startKeeper: StartKeeper,
});
