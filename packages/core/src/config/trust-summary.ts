/** Tables of a person's choice of names: as many entries as the file likes. */
const TABLES = ['container.env', 'container.ports', 'container.services', 'endpoints', 'secrets'];
const MAX_ENTRIES = 20;
const MAX_KEY_CHARACTERS = 1000;
const MAX_ENTRY_CHARACTERS = 400;
/** Blanks, also as JSON writes them. */
const LONG_BLANKS = /(?:\s|\\[nrtf]){9,}/gu;

/** What a person reads before they agree. */
export interface TrustSummary {
  /** First one that names all keys, then the keys with their values, then the tables. Hostile text: to be shown as `visible`. */
  readonly lines: readonly string[];
  /** How many of the lines are left out, or cut. */
  readonly unseenCount: number;
}

/**
 * What a configuration asks for, so short that a person sees all keys: entries of a table beyond twenty are counted, long runs of blanks
 * are a mark with their number, long values are cut in the middle. Whoever fills a file up cannot push a line off the screen by it.
 *
 * @param wants lines of `trustText`
 */
export function trustSummary(wants: readonly string[]): TrustSummary {
  const tableOf = (line: string) => TABLES.find((table) => line.startsWith(`${table}.`));
  const keys = wants.filter((line) => tableOf(line) === undefined);
  const tables = TABLES.map((table) => ({ table, entries: wants.filter((line) => tableOf(line) === table) })).filter(
    ({ entries }) => entries.length > 0,
  );
  let unseenCount = 0;
  const shortened = (line: string, most: number) => {
    const text = line.replace(LONG_BLANKS, (blanks) => `␠×${blanks.replace(/\\./g, ' ').length}`);
    if (text.length <= most) return text;
    unseenCount++;
    const half = most / 2;
    return `${text.slice(0, half)} …${text.length - most} characters… ${text.slice(-half)}`;
  };
  const names = [
    ...keys.map((line) => line.slice(0, line.indexOf(' = '))),
    ...tables.map(
      ({ table, entries }) => `${table} (${entries.length === 1 ? '1 entry' : `${entries.length} entries`})`,
    ),
  ];
  const lines = [
    ...keys.map((line) => shortened(line, MAX_KEY_CHARACTERS)),
    ...tables.flatMap(({ table, entries }) => {
      const shown = entries.slice(0, MAX_ENTRIES).map((line) => shortened(line, MAX_ENTRY_CHARACTERS));
      const more = entries.length - shown.length;
      unseenCount += more;
      return more === 0 ? shown : [...shown, `… and ${more} more of ${table}`];
    }),
  ];
  return { lines: [`It asks for ${names.join(', ')}:`, ...lines], unseenCount };
}
