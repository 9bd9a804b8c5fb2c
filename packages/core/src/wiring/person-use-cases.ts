import { AcceptWork } from '../use-cases/review/accept-work.ts';
import { AttachProcess } from '../use-cases/work/attach-process.ts';
import { BlameFile } from '../use-cases/review/blame-file.ts';
import { ChangeRunState } from '../use-cases/session/change-run-state.ts';
import { CheckSecrets } from '../use-cases/decide/check-secrets.ts';
import { DeleteSandbox } from '../use-cases/remove/delete-sandbox.ts';
import { ExportTree } from '../use-cases/review/export-tree.ts';
import { ForecastMerges } from '../use-cases/review/forecast-merges.ts';
import { ForkSandbox } from '../use-cases/create/fork-sandbox.ts';
import { IntegrateChanges } from '../use-cases/remove/integrate-changes.ts';
import { ListSnapshots } from '../use-cases/go-back/list-snapshots.ts';
import { KeepCommand } from '../use-cases/work/keep-command.ts';
import { ManageFiles } from '../use-cases/work/manage-files.ts';
import { JudgeSandboxes } from '../use-cases/go-back/judge-sandboxes.ts';
import { RaceForks } from '../use-cases/go-back/race-forks.ts';
import { ReadAudit } from '../use-cases/review/read-audit.ts';
import { ReadCall } from '../use-cases/review/read-call.ts';
import { ReadProof } from '../use-cases/review/read-proof.ts';
import { ReadUsage } from '../use-cases/review/read-usage.ts';
import { Reconcile } from '../use-cases/go-back/reconcile.ts';
import { RecoverSandbox } from '../use-cases/go-back/recover-sandbox.ts';
import { RemoveSnapshot } from '../use-cases/go-back/remove-snapshot.ts';
import { RestoreRecords } from '../use-cases/go-back/restore-records.ts';
import { RestoreRevision } from '../use-cases/go-back/restore-revision.ts';
import { RestoreSnapshot } from '../use-cases/go-back/restore-snapshot.ts';
import { SeatAgent } from '../use-cases/session/seat-agent.ts';
import { TakeSnapshot } from '../use-cases/go-back/take-snapshot.ts';
import { TraceWork } from '../use-cases/review/trace-work.ts';
import { TrustConfig } from '../use-cases/decide/trust-config.ts';
import { WriteNotes } from '../use-cases/review/write-notes.ts';
import { AGENT_USE_CASES } from './agent-use-cases.ts';
import { useCaseTable } from './use-case-table.ts';

/** Everything that a person or a program may ask for. */
export const PERSON_USE_CASES = useCaseTable({
  ...AGENT_USE_CASES,
  acceptWork: AcceptWork,
  attachProcess: AttachProcess,
  blameFile: BlameFile,
  changeRunState: ChangeRunState,
  checkSecrets: CheckSecrets,
  deleteSandbox: DeleteSandbox,
  exportTree: ExportTree,
  forecastMerges: ForecastMerges,
  forkSandbox: ForkSandbox,
  integrateChanges: IntegrateChanges,
  judgeSandboxes: JudgeSandboxes,
  keepCommand: KeepCommand,
  listSnapshots: ListSnapshots,
  manageFiles: ManageFiles,
  raceForks: RaceForks,
  readAudit: ReadAudit,
  readCall: ReadCall,
  readProof: ReadProof,
  readUsage: ReadUsage,
  reconcile: Reconcile,
  recoverSandbox: RecoverSandbox,
  removeSnapshot: RemoveSnapshot,
  restoreRecords: RestoreRecords,
  restoreRevision: RestoreRevision,
  restoreSnapshot: RestoreSnapshot,
  seatAgent: SeatAgent,
  takeSnapshot: TakeSnapshot,
  traceWork: TraceWork,
  trustConfig: TrustConfig,
  writeNotes: WriteNotes,
});
