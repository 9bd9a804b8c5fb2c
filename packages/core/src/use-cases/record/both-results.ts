import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';

/** A call that records often shows no more. */
const MAX_WARNINGS = 500;

/** Adds up two recordings of one call. */
export function bothResults(first: RevisionResult, second: RevisionResult): RevisionResult {
  const revision = second.revision ?? first.revision;
  const ignoreRulesChanged = first.ignoreRulesChanged || second.ignoreRulesChanged;
  const warnings = [...first.warnings, ...second.warnings];
  const more = Math.max(0, warnings.length - MAX_WARNINGS);
  return {
    ...(revision && { revision }),
    ...(ignoreRulesChanged && { ignoreRulesChanged }),
    changedFiles: first.changedFiles + second.changedFiles,
    warnings: warnings.slice(0, MAX_WARNINGS),
    moreWarnings: first.moreWarnings + second.moreWarnings + more,
  };
}
