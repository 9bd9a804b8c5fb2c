import { AGENT_OPERATIONS } from './agent-operations.ts';
import { pauseSandbox, resumeSandbox, setRunState } from './change-run-state.ts';
import { deleteSandbox } from './delete-sandbox.ts';
import { checkMachine, explain } from './explain.ts';
import { exportWorktree } from './export-worktree.ts';
import { findSandbox } from './find-sandbox.ts';
import { applyChanges, mergeChanges, planIntegration } from './integrate.ts';
import { openShell } from './open-shell.ts';
import { readAudit, verifyAudit } from './read-audit.ts';
import { reconcileState } from './reconcile-state.ts';
import { recoverSandbox, restoreRevision } from './restore-revision.ts';
import { trustConfig } from './trust-config.ts';

/** Everything that can be asked for. */
export const OPERATIONS = [
  ...AGENT_OPERATIONS,
  findSandbox,
  openShell,
  planIntegration,
  applyChanges,
  mergeChanges,
  deleteSandbox,
  pauseSandbox,
  resumeSandbox,
  setRunState,
  restoreRevision,
  recoverSandbox,
  exportWorktree,
  explain,
  checkMachine,
  trustConfig,
  readAudit,
  verifyAudit,
  reconcileState,
] as const;
