import { LATER_REASONS } from './known-files.ts';
import { visibleName } from '../text/visible.ts';

/** As a plan tells of it. */
interface Risky {
  readonly path: string;
  readonly reasons: readonly string[];
}

/** Files of one reason, the most dangerous that they have. */
export interface RiskGroup {
  readonly reason: string;
  /** How many there are in all. */
  readonly files: number;
  /** Those that are listed. */
  readonly entries: readonly RiskEntry[];
}

/** A file, or a hidden directory with all that is in it. */
export interface RiskEntry {
  /** Ends in a slash where it is a directory. */
  readonly path: string;
  readonly files: number;
  /** What else there is to say of any of them. */
  readonly also: readonly string[];
}

/** What can run code of a plan, as a person reads it. */
export interface GroupedRisks {
  /** The most dangerous first. */
  readonly groups: readonly RiskGroup[];
  readonly files: number;
  /** How many of the files no entry stands for. */
  readonly unlisted: number;
}

/** What a person reads through before a question. */
const MAX_LINES = 40;
/** So many files of a hidden directory are listed by their names. */
const MAX_NAMES = 3;
const MAX_FACTS = 1_000;
const NEW_DIRECTORY = 'lies in a new hidden directory';
/** Behind all others, in this order. */
const LEAST = [
  NEW_DIRECTORY,
  'is a new hidden file',
  'lies in a hidden directory',
  'is a hidden file',
  'becomes executable',
  'is a symbolic link',
  'has ',
  'holds what nobody sees',
  'differs ',
  'is binary',
  'is larger',
];
/** Behind these comes what no list knows: what the person's own git reads, and the like. */
const FIRST = LATER_REASONS.indexOf('changes how git treats files') + 1;

function rankOf(reason: string): number {
  const later = LATER_REASONS.indexOf(reason);
  if (later >= 0) return later < FIRST ? later : later + 1;
  const least = LEAST.findIndex((start) => reason.startsWith(start));
  return least < 0 ? FIRST : LATER_REASONS.length + 1 + least;
}

const ordered = (reasons: readonly string[]) => reasons.toSorted((a, b) => rankOf(a) - rankOf(b));

/**
 * The one form in which a person is told what can run code: by reason, the most dangerous first, a hidden directory as one entry, and not
 * more than they read. Every reason has an entry as long as there is room, so that none pushes another one out.
 *
 * @param maxLines of headings and entries together
 */
export function groupedRisks(risky: readonly Risky[], maxLines = MAX_LINES): GroupedRisks {
  const byReason = grouped(risky, ({ reasons }) => ordered(reasons)[0] ?? '');
  const all = [...byReason]
    .toSorted(([a], [b]) => rankOf(a) - rankOf(b))
    .map(([reason, files]) => ({ reason, files: files.length, entries: entriesOf(reason, files) }));
  const headed = all.slice(0, Math.floor(maxLines / 2));
  let room = maxLines - 2 * headed.length;
  const groups = headed.map(({ entries, ...group }) => {
    const listed = entries.slice(0, 1 + room);
    room -= Math.max(0, listed.length - 1);
    return { ...group, entries: listed };
  });
  const listed = groups.flatMap(({ entries }) => entries).reduce((sum, { files }) => sum + files, 0);
  return { groups, files: risky.length, unlisted: risky.length - listed };
}

function grouped(all: readonly Risky[], keyOf: (one: Risky) => string): ReadonlyMap<string, readonly Risky[]> {
  const groups = new Map<string, Risky[]>();
  for (const one of all) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}

function entriesOf(reason: string, files: readonly Risky[]): readonly RiskEntry[] {
  const maxNames = reason === NEW_DIRECTORY ? 1 : MAX_NAMES;
  return [...grouped(files, ({ path }) => hiddenDirectory(path) ?? path)].flatMap(([, inside]) => {
    if (inside.length > maxNames) return [entryOf(reason, inside, sharedDirectory(inside))];
    return inside.map((one) => entryOf(reason, [one], one.path));
  });
}

function entryOf(reason: string, files: readonly Risky[], path: string): RiskEntry {
  const others = new Set(files.flatMap(({ reasons }) => reasons));
  others.delete(reason);
  return { path, files: files.length, also: ordered([...others]) };
}

/** The outermost hidden directory that a path lies in. */
function hiddenDirectory(path: string): string | undefined {
  return /^(?:.*?\/)?\.[^/]*\//.exec(path)?.[0];
}

/** The directory that all of them lie in, with a slash behind. */
function sharedDirectory(files: readonly Risky[]): string {
  let [shared = ''] = files.map(({ path }) => path);
  for (const { path } of files)
    while (!path.startsWith(shared) || !shared.endsWith('/'))
      shared = shared.slice(0, shared.lastIndexOf('/', shared.length - 2) + 1);
  return shared;
}

/** Lines for a person, the last of which says how many more there are, where there are more. */
export function riskLines(risky: readonly Risky[]): readonly string[] {
  const { groups, unlisted } = groupedRisks(risky);
  return [
    ...groups.flatMap(({ reason, files, entries }) => [
      `${reason}${files > 1 ? ` (${files} files)` : ''}:`,
      ...entries.map((entry) => `  ${nameOf(entry)}${entry.also.length > 0 ? `: ${entry.also.join('; ')}` : ''}`),
    ]),
    ...(unlisted > 0 ? [`and ${unlisted} more`] : []),
  ];
}

/** Paths for one sentence, the most dangerous first. */
export function riskNames(risky: readonly Risky[]): string {
  const { groups } = groupedRisks(risky);
  const names = groups.flatMap(({ entries }) => entries).map(nameOf);
  return `${names.slice(0, 5).join(', ')}${names.length > 5 ? ' …' : ''}`;
}

/** For programs: the number of all, and the most dangerous of them. */
export function riskFacts(risky: readonly Risky[]) {
  const first = risky
    .map(({ path, reasons }) => ({ path, reasons: ordered(reasons) }))
    .toSorted((a, b) => rankOf(a.reasons[0] ?? '') - rankOf(b.reasons[0] ?? ''));
  return { files: risky.length, risky: first.slice(0, MAX_FACTS) };
}

function nameOf({ path, files }: RiskEntry): string {
  return files > 1 ? `${visibleName(path)} (${files} files)` : visibleName(path);
}
