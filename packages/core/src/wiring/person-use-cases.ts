import { AcceptWork } from '../use-cases/accept-work.ts';
import { AttachProcess } from '../use-cases/attach-process.ts';
import { ChangeRunState } from '../use-cases/change-run-state.ts';
import { DeleteSandbox } from '../use-cases/delete-sandbox.ts';
import { ExportTree } from '../use-cases/export-tree.ts';
import { ForkSandbox } from '../use-cases/fork-sandbox.ts';
import { IntegrateChanges } from '../use-cases/integrate-changes.ts';
import { ListSnapshots } from '../use-cases/list-snapshots.ts';
import { ManageFiles } from '../use-cases/manage-files.ts';
import { RaceForks } from '../use-cases/race-forks.ts';
import { ReadAudit } from '../use-cases/read-audit.ts';
import { Reconcile } from '../use-cases/reconcile.ts';
import { RemoveSnapshot } from '../use-cases/remove-snapshot.ts';
import { RestoreRecords } from '../use-cases/restore-records.ts';
import { RestoreRevision } from '../use-cases/restore-revision.ts';
import { RestoreSnapshot } from '../use-cases/restore-snapshot.ts';
import { SeatAgent } from '../use-cases/seat-agent.ts';
import { TakeSnapshot } from '../use-cases/take-snapshot.ts';
import { TrustConfig } from '../use-cases/trust-config.ts';
import { AGENT_USE_CASES } from './agent-use-cases.ts';
import { useCaseTable } from './use-case-table.ts';

/** Everything that a person or a program may ask for. */
export const PERSON_USE_CASES = useCaseTable({
  ...AGENT_USE_CASES,
  acceptWork: AcceptWork,
  attachProcess: AttachProcess,
  changeRunState: ChangeRunState,
  deleteSandbox: DeleteSandbox,
  exportTree: ExportTree,
  forkSandbox: ForkSandbox,
  integrateChanges: IntegrateChanges,
  listSnapshots: ListSnapshots,
  manageFiles: ManageFiles,
  raceForks: RaceForks,
  readAudit: ReadAudit,
  reconcile: Reconcile,
  removeSnapshot: RemoveSnapshot,
  restoreRecords: RestoreRecords,
  restoreRevision: RestoreRevision,
  restoreSnapshot: RestoreSnapshot,
  seatAgent: SeatAgent,
  takeSnapshot: TakeSnapshot,
  trustConfig: TrustConfig,
});
