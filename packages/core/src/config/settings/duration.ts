import { parseDuration } from './parse-duration.ts';
import { Refused, refusedValue, setting } from './setting.ts';

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
