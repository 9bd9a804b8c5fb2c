/** Milliseconds that a step took. */
export async function timed(step: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await step();
  return performance.now() - startedMs;
}

export interface Plan {
  readonly rounds: number;
  /** Rounds before those that count. */
  readonly warmUps: number;
}

/**
 * Measures several things in turn, A B A B, so that a machine that is slow for a while is slow for all of them. Each side does
 * its work once and returns what it measured of it; clearing up belongs to the side but not into its number.
 */
export async function interleaved<Name extends string>(
  { rounds, warmUps }: Plan,
  sides: Readonly<Record<Name, (round: number) => Promise<number>>>,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const entries = Object.entries(sides) as [Name, (round: number) => Promise<number>][];
  const samples = Object.fromEntries(entries.map(([name]) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < warmUps + rounds; round += 1) {
    for (const [name, side] of entries) {
      const value = await side(round);
      if (round >= warmUps) samples[name].push(value);
    }
  }
  return samples;
}

/** Does `count` jobs, `width` at a time. */
export async function inParallel(count: number, width: number, job: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await job(next++);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
