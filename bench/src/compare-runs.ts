import type { Row, Run } from './findings.ts';

/** A ratio that moves by less than this is noise. */
export const TOLERANCE = 1.5;

/**
 * What got worse, one sentence each. Ratios are compared and never times, which differ between machines and hours. Of several
 * fresh runs the best one counts, row by row: a machine that was busy for a while is no regression.
 */
export function regressions(kept: Run, fresh: readonly Run[], tolerance = TOLERANCE): readonly string[] {
  return kept.rows.flatMap((row) => {
    const again = fresh.map(({ rows }) => rows.find((other) => nameOf(other) === nameOf(row))?.ratio);
    const ratios = again.filter((ratio) => ratio !== undefined);
    if (ratios.length === 0) return [`${nameOf(row)}: was measured and is not any more.`];
    const best = Math.min(...ratios);
    // Written so that a ratio that is no number is a regression.
    if (best <= row.ratio * tolerance) return [];
    return [`${nameOf(row)}: ${best} × ${row.against}; it was ${row.ratio} ×.`];
  });
}

const nameOf = ({ target, what }: Row): string => `${target} ${what}`;
