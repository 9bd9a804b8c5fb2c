/** What is kept of a series of samples. */
export interface Summary {
  readonly n: number;
  readonly median: number;
  readonly p95: number;
}

/** @throws RangeError without samples: a median of nothing would look like a result. */
export function summaryOf(samples: readonly number[]): Summary {
  const sorted = samples.toSorted((a, b) => a - b);
  return { n: sorted.length, median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) };
}

/** Between the two nearest samples, in proportion. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new RangeError('There is no quantile of no samples.');
  return below + (above - below) * (place - Math.floor(place));
}

/** Three digits that count; more would pretend to be more than noise. */
export const rounded = (value: number): number => Number(value.toPrecision(3));
