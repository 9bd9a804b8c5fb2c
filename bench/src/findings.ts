import { rounded, type Summary, summaryOf } from './statistics.ts';

/** A number that a run has to stay at or below: of the ratio to the floor, or of the value itself. */
export interface Limit {
  readonly of: 'ratio' | 'value';
  readonly atMost: number;
}

export interface Row {
  /** `P1` to `P12` of docs/benchmarks.md. */
  readonly target: string;
  readonly what: string;
  readonly unit: 'ms' | 'MiB';
  readonly measured: Summary;
  /** What it is compared with, measured in turn with it. */
  readonly against: string;
  readonly floor: Summary;
  /** Median by median. */
  readonly ratio: number;
  /** Absent: told, and nothing is asked of it. */
  readonly limit?: Limit;
}

/** What could not be measured here. */
export interface Absence {
  readonly target: string;
  readonly what: string;
  readonly reason: string;
}

export interface Floor {
  readonly what: string;
  readonly measured: Summary;
}

/** One run, as it is kept. */
export interface Run {
  readonly mode: 'quick' | 'full';
  readonly machine: Readonly<Record<string, string>>;
  readonly floors: readonly Floor[];
  readonly rows: readonly Row[];
  readonly absent: readonly Absence[];
}

export type Runs = Readonly<Partial<Record<Run['mode'], Run>>>;

/** The kept run with what a fresh one measured in place of the same: a run may be of some scenarios only. */
export function mergedRun(kept: Run | undefined, fresh: Run): Run {
  if (!kept) return fresh;
  const others = <Item extends { readonly what: string; readonly target?: string }>(
    before: readonly Item[],
    now: readonly { readonly what: string; readonly target?: string }[],
  ) => before.filter(({ what, target }) => !now.some((one) => one.what === what && one.target === target));
  const ordered = <Item extends { readonly target: string }>(items: readonly Item[]) =>
    items.toSorted((a, b) => Number(a.target.slice(1)) - Number(b.target.slice(1)));
  return {
    ...fresh,
    floors: [...others(kept.floors, fresh.floors), ...fresh.floors],
    rows: ordered([...others(kept.rows, [...fresh.rows, ...fresh.absent]), ...fresh.rows]),
    absent: ordered([...others(kept.absent, [...fresh.rows, ...fresh.absent]), ...fresh.absent]),
  };
}

export function isMet({ limit, ratio, measured }: Row): boolean | undefined {
  if (!limit) return undefined;
  return (limit.of === 'ratio' ? ratio : measured.median) <= limit.atMost;
}

interface Comparison extends Pick<Row, 'target' | 'what' | 'against' | 'limit'> {
  /** @defaultValue 'ms' */
  readonly unit?: Row['unit'];
  readonly measured: readonly number[];
  readonly floor: readonly number[];
}

/** Collects what the scenarios of one run find. */
export class Findings {
  readonly floors: Floor[] = [];
  readonly rows: Row[] = [];
  readonly absent: Absence[] = [];

  floor(what: string, samples: readonly number[]): void {
    this.floors.push({ what, measured: told(samples) });
  }

  row({ measured, floor, unit = 'ms', ...words }: Comparison): void {
    const ratio = rounded(summaryOf(measured).median / summaryOf(floor).median);
    this.rows.push({ ...words, unit, measured: told(measured), floor: told(floor), ratio });
  }

  lacks(target: string, what: string, reason: string): void {
    this.absent.push({ target, what, reason });
  }
}

function told(samples: readonly number[]): Summary {
  const { n, median, p95 } = summaryOf(samples);
  return { n, median: rounded(median), p95: rounded(p95) };
}
