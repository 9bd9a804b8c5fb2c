import { Refused, refusedValue, setting } from './setting.ts';

const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  // As docker means them.
  K: 2 ** 10,
  M: 2 ** 20,
  G: 2 ** 30,
  T: 2 ** 40,
};

/** Bytes of `"2GiB"`, `"1.5G"`, `"500MB"`; nothing when it is not a size. */
export function parseByteSize(text: string): number | undefined {
  const [, amount = '', unit = ''] = /^(\d{1,12}(?:\.\d{1,6})?) ?([KMGT]i?B|[KMGTB])$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return factor === undefined ? undefined : Math.round(Number(amount) * factor);
}

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
