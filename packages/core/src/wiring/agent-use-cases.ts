import { FindShell } from '../inside/find-shell.ts';
import { ReadLines } from '../inside/read-lines.ts';
import { SearchFiles } from '../inside/search-files.ts';
import { AccessFiles } from '../use-cases/access-files.ts';
import { AskProviders } from '../use-cases/ask-providers.ts';
import { AssignPorts } from '../use-cases/assign-ports.ts';
import { AuditRead } from '../use-cases/audit-read.ts';
import { BringArtefacts } from '../use-cases/bring-artefacts.ts';
import { ChangeWorkspace } from '../use-cases/change-workspace.ts';
import { ChooseProvider } from '../use-cases/choose-provider.ts';
import { ClearPool } from '../use-cases/clear-pool.ts';
import { CloneRepository } from '../use-cases/clone-repository.ts';
import { ControlServices } from '../use-cases/control-services.ts';
import { CreateSandbox } from '../use-cases/create-sandbox.ts';
import { CutMilestone } from '../use-cases/cut-milestone.ts';
import { DecidePolicy } from '../use-cases/decide-policy.ts';
import { EditFile } from '../use-cases/edit-file.ts';
import { FillPool } from '../use-cases/fill-pool.ts';
import { FindSandbox } from '../use-cases/find-sandbox.ts';
import { InspectSandbox } from '../use-cases/inspect-sandbox.ts';
import { InstallImage } from '../use-cases/install-image.ts';
import { KeepSandbox } from '../use-cases/keep-sandbox.ts';
import { ListFiles } from '../use-cases/list-files.ts';
import { ListSandboxes } from '../use-cases/list-sandboxes.ts';
import { LookAtSandbox } from '../use-cases/look-at-sandbox.ts';
import { OpenNetwork } from '../use-cases/open-network.ts';
import { OpenRepository } from '../use-cases/open-repository.ts';
import { OpenSandboxes } from '../use-cases/open-sandboxes.ts';
import { PatchFile } from '../use-cases/patch-file.ts';
import { PlaceSandbox } from '../use-cases/place-sandbox.ts';
import { ReachKeeper } from '../use-cases/reach-keeper.ts';
import { ReadClone } from '../use-cases/read-clone.ts';
import { ReadHistory } from '../use-cases/read-history.ts';
import { RecordRevision } from '../use-cases/record-revision.ts';
import { RunCommand } from '../use-cases/run-command.ts';
import { SetUpSandbox } from '../use-cases/set-up-sandbox.ts';
import { SettleSandbox } from '../use-cases/settle-sandbox.ts';
import { SpillOutput } from '../use-cases/spill-output.ts';
import { TakePooled } from '../use-cases/take-pooled.ts';
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
  clearPool: ClearPool,
  cloneRepository: CloneRepository,
  controlServices: ControlServices,
  createSandbox: CreateSandbox,
  cutMilestone: CutMilestone,
  decidePolicy: DecidePolicy,
  editFile: EditFile,
  fillPool: FillPool,
  findSandbox: FindSandbox,
  findShell: FindShell,
  inspectSandbox: InspectSandbox,
  installImage: InstallImage,
  keepSandbox: KeepSandbox,
  listFiles: ListFiles,
  listSandboxes: ListSandboxes,
  lookAtSandbox: LookAtSandbox,
  openNetwork: OpenNetwork,
  openRepository: OpenRepository,
  openSandboxes: OpenSandboxes,
  patchFile: PatchFile,
  placeSandbox: PlaceSandbox,
  reachKeeper: ReachKeeper,
  readClone: ReadClone,
  readHistory: ReadHistory,
  readLines: ReadLines,
  recordRevision: RecordRevision,
  runCommand: RunCommand,
  searchFiles: SearchFiles,
  setUpSandbox: SetUpSandbox,
  settleSandbox: SettleSandbox,
  spillOutput: SpillOutput,
  takePooled: TakePooled,
});
