import { parseByteSize } from './parse-byte-size.ts';
import { Refused, refusedValue, setting } from './setting.ts';

/** A key that takes a size between two sizes, which are named as a person would write them. */
export function byteSize(minimum: string, maximum: string, description: string) {
  const minimumBytes = parseByteSize(minimum) ?? 0;
  const maximumBytes = parseByteSize(maximum) ?? 0;
  const schema = { type: 'string', examples: ['2GiB'], description };
  return setting(schema, (value): number | Refused => {
    const bytes = typeof value === 'string' ? parseByteSize(value) : undefined;
    if (bytes !== undefined && bytes >= minimumBytes && bytes <= maximumBytes) return bytes;
    const code = typeof value === 'string' ? 'CONFIG_VALUE' : 'CONFIG_TYPE';
    const wanted = `a size in quotes, e.g. "2GiB", min ${minimum}, max ${maximum}`;
    return refusedValue(
      code,
      value,
      wanted,
      'Units: B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (of 1024).',
    );
  });
}
