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
  const bytes = Math.round(Number(amount) * (factor ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
