import { archiveFiles } from './work/archive-files.ts';
import { blameFile } from './review/blame-file.ts';
import { pauseSandbox, resumeSandbox, setRunState } from './change-run-state.ts';
import { cloneRepository } from './work/clone-repository.ts';
import { controlService } from './work/control-service.ts';
import { createSandbox } from './create-sandbox.ts';
import { cutMilestone } from './review/cut-milestone.ts';
import { deleteSandbox } from './delete-sandbox.ts';
import { checkMachine, explain } from './explain.ts';
import { exportWorktree } from './review/export-worktree.ts';
import { forecastMerges } from './review/forecast-merges.ts';
import { findSandbox } from './find-sandbox.ts';
import { readCompute } from './review/read-compute.ts';
import { giveNotes, listNotes, removeNotes, returnNotes, writeNote } from './review/notes.ts';
import { applyChanges, mergeChanges, offerParts, planIntegration, readConflict } from './review/integrate.ts';
import { listPorts } from './work/list-ports.ts';
import { listSandboxes } from './list-sandboxes.ts';
import { forkSandbox } from './fork-sandbox.ts';
import { copyPath, listDirectory, makeDirectory, readFileStatus, removePath } from './work/manage-files.ts';
import { openPort } from './work/open-port.ts';
import { keepCommand } from './work/keep-command.ts';
import { openShell } from './work/open-shell.ts';
import { clearPool, fillPool, listPool, managePool } from './pool.ts';
import { judgeSandboxes } from './judge-sandboxes.ts';
import { raceForks } from './race-forks.ts';
import { readAudit, verifyAudit } from './read-audit.ts';
import { readCall } from './review/read-call.ts';
import { readContent } from './review/read-content.ts';
import { readDiff } from './review/read-diff.ts';
import { readFile } from './work/read-file.ts';
import { readProof } from './review/read-proof.ts';
import { readUsage } from './review/read-usage.ts';
import { readLog } from './review/read-log.ts';
import { readServiceLogs } from './work/read-service-logs.ts';
import { reconcileState } from './reconcile-state.ts';
import { recoverSandbox, restoreRevision, undoRevision } from './restore-revision.ts';
import { runCommand } from './work/run-command.ts';
import { listSnapshots, removeSnapshot, restoreSnapshot, takeSnapshot } from './snapshots.ts';
import { seatAgent } from './work/seat-agent.ts';
import { checkSecrets, listSecrets } from './secrets.ts';
import { traceWork } from './review/trace-work.ts';
import { trustConfig } from './trust-config.ts';
import { writeFile } from './work/write-file.ts';
import { writeFiles } from './work/write-files.ts';

/** Everything that a person or a program may ask for. Agents have `AGENT_TOOLS`. */
export const OPERATIONS = [
  createSandbox,
  forkSandbox,
  raceForks,
  listSandboxes,
  runCommand,
  readFile,
  writeFile,
  writeFiles,
  archiveFiles,
  readFileStatus,
  listDirectory,
  makeDirectory,
  removePath,
  copyPath,
  cloneRepository,
  cutMilestone,
  readLog,
  readCall,
  readProof,
  readUsage,
  blameFile,
  traceWork,
  forecastMerges,
  readContent,
  readDiff,
  findSandbox,
  keepCommand,
  openShell,
  seatAgent,
  controlService,
  readServiceLogs,
  listPorts,
  openPort,
  planIntegration,
  offerParts,
  readConflict,
  readCompute,
  writeNote,
  listNotes,
  removeNotes,
  giveNotes,
  returnNotes,
  applyChanges,
  mergeChanges,
  deleteSandbox,
  pauseSandbox,
  resumeSandbox,
  setRunState,
  listPool,
  fillPool,
  clearPool,
  managePool,
  restoreRevision,
  undoRevision,
  takeSnapshot,
  listSnapshots,
  restoreSnapshot,
  removeSnapshot,
  recoverSandbox,
  exportWorktree,
  explain,
  checkMachine,
  trustConfig,
  listSecrets,
  checkSecrets,
  readAudit,
  verifyAudit,
  judgeSandboxes,
  reconcileState,
] as const;
