const FORM =
  /^(?=\d)(?:(?<d>\d{1,9})d)?(?:(?<h>\d{1,9})h)?(?:(?<m>\d{1,9})m)?(?:(?<s>\d{1,9})s)?(?:(?<ms>\d{1,9})ms)?$/;
const UNIT_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

/** Milliseconds of `"30s"`, `"1h30m"`, each unit once and the largest first; nothing when it is not a duration. */
export function parseDuration(text: string): number | undefined {
  const amounts = FORM.exec(text)?.groups;
  if (!amounts) return undefined;
  const total = Object.entries(UNIT_MS).reduce((sum, [unit, ms]) => sum + Number(amounts[unit] ?? 0) * ms, 0);
  return Number.isSafeInteger(total) ? total : undefined;
}
