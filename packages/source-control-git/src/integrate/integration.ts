import { executePlan } from './execute-plan.ts';
import { exportTree } from '../publish/export-tree.ts';
import { forecastConflicts } from './forecast-conflicts.ts';
import { isMerged } from './is-merged.ts';
import { conflictOf, makePlan, offeredOf } from '../plan/make-plan.ts';
import { planExport } from '../plan/plan-export.ts';
import { reconcileRepository } from './reconcile-repository.ts';
import { restoreRevision } from '../record/restore-revision.ts';

/** What only a person asks for: it changes the person's repository, or moves a history back. */
export const INTEGRATION = {
  makePlan,
  offeredOf,
  conflictOf,
  planExport,
  exportTree,
  executePlan,
  forecastConflicts,
  isMerged,
  reconcileRepository,
  restoreRevision,
};

export type Integration = typeof INTEGRATION;
