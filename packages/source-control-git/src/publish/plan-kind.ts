import { LitterboxError, type ObjectId, type PlanRequest } from '@litterbox/core/provider';
import type { MergeArguments } from '../person/merge-arguments.ts';
import type { UntakenWork } from './untaken-work.ts';

/** How a plan is carried out. */
export type PlanKind = 'fast-forward' | 'merge-commit' | 'plain-commit' | 'stage' | 'nothing';

/** As `git merge` would. @throws LitterboxError `CONFLICT` where a fast-forward alone is wanted, and cannot be */
export function kindOf(
  request: PlanRequest,
  options: MergeArguments,
  work: UntakenWork,
  head: ObjectId,
  config: ReadonlyMap<string, string>,
): PlanKind {
  if (request.integration === 'apply') return request.commit === true ? 'plain-commit' : 'stage';
  const configured = { false: 'never', no: 'never', only: 'only' }[config.get('merge.ff') ?? ''];
  const rule = options.fastForward ?? configured ?? 'allowed';
  const canForward = work.isWhole && options.strategy !== 'ours' && head === work.onto;
  if (rule === 'only' && !canForward) {
    throw new LitterboxError('CONFLICT', 'HEAD has commits that the sandbox does not have: no fast-forward.', {
      operation: 'integration.plan',
      hint: 'Merge without --ff-only.',
    });
  }
  if (options.squash) return 'stage';
  if (canForward && rule !== 'never') return 'fast-forward';
  // Commits that the branch does not have, such as those of another branch or a base that was never committed, must not come along.
  return work.isWhole ? 'merge-commit' : 'plain-commit';
}
