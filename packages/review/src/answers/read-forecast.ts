import { forecastMerges, visibleName } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

/** Files of a conflict that are named. */
const MAX_NAMED = 100;

/** The conflicts to be expected: with the branch, and of each two sandboxes. */
export async function readForecast(litterbox: Performer, signal: AbortSignal) {
  const { conflicts, compared, leftOut, untried } = await litterbox.perform(forecastMerges, {}, { signal });
  return {
    compared: compared.length,
    leftOut,
    untried,
    conflicts: conflicts.map(({ sandbox, other, paths }) => ({
      sandbox,
      other,
      files: paths.length,
      paths: paths.slice(0, MAX_NAMED).map((path) => visibleName(path)),
    })),
  };
}
