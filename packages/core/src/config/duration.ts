import { Refused, refusedValue, setting } from './setting.ts';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of `"30s"`, `"1h30m"`; nothing when it is not a duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:ms|[smhd]))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d+)(ms|[smhd])/g))
    total += Number(amount) * (UNIT_MS[unit] ?? 0);
  return total;
}

/** A key that takes a duration between two durations, which are named as a person would write them. */
export function duration(minimum: string, maximum: string, description: string) {
  const minimumMs = parseDuration(minimum) ?? 0;
  const maximumMs = parseDuration(maximum) ?? 0;
  const schema = { type: 'string', examples: ['30s'], description };
  return setting(schema, (value): number | Refused => {
    const milliseconds = typeof value === 'string' ? parseDuration(value) : undefined;
    if (milliseconds !== undefined && milliseconds >= minimumMs && milliseconds <= maximumMs) return milliseconds;
    const code = typeof value === 'string' ? 'CONFIG_VALUE' : 'CONFIG_TYPE';
    return refusedValue(
      code,
      value,
      `a duration like "30s", ${minimum}..${maximum}`,
      'Units: ms, s, m, h, d; 1h30m works.',
    );
  });
}
