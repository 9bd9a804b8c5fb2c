/** The figures that a racer is ranked by. */
export interface RacerMarks {
  /** Its place among the forks, from 1 on. */
  readonly number: number;
  /** Whether the judge ended with 0. */
  readonly isPassed: boolean;
  /** The number on the last line that the judge printed; more is better. */
  readonly score?: number | undefined;
  /** Lines added and removed since the fork's base. */
  readonly changedLines: number;
}

/**
 * Orders racers, best first: those that the judge passed, then by its score, then by fewer changed lines, then by their number. One without a
 * score stands behind those that have one.
 */
export function rankRacers<Racer extends RacerMarks>(racers: readonly Racer[]): readonly Racer[] {
  return racers.toSorted(
    (a, b) =>
      Number(b.isPassed) - Number(a.isPassed) ||
      byScore(a.score, b.score) ||
      a.changedLines - b.changedLines ||
      a.number - b.number,
  );
}

function byScore(a: number | undefined, b: number | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return b - a;
}
