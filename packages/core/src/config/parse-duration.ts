const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `"30s"`, `"1h30m"`; nothing when it is not a duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:ms|[smhd]))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d+)(ms|[smhd])/g))
    total += Number(amount) * (UNIT_MS[unit] ?? 0);
  return total;
}
