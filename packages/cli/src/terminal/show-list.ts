import { existsSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { LOCAL_HOST, parseProviderKey, type RecordedWork, type SandboxSummary, visibleName } from '@litterbox/core';
import { ago, shortAge, table } from './table.ts';
import type { Talk } from './talk.ts';

type Cell = (sandbox: SandboxSummary) => string;

/** Columns in their order. Those with a rank may be missing where the terminal is too narrow: the highest goes first. */
interface Column {
  readonly header: string;
  readonly cell: Cell;
  readonly rank?: number;
}

/** Cells of what a sandbox spent. */
export type Spent = readonly [tokens: string, time: string, processors: string, memory: string, disk: string];

/** A list, and how it is shown. */
interface ShownList {
  readonly talk: Talk;
  /** All that there are, to say which of the two it is that nothing is shown. */
  readonly found: readonly SandboxSummary[];
  readonly sandboxes: readonly SandboxSummary[];
  readonly isAll: boolean;
  /** By id. */
  readonly spent?: ReadonlyMap<string, Spent> | undefined;
}

/** Which of them a list shows: with `isChanged` those that differ from their base. */
export const shownSandboxes = (found: readonly SandboxSummary[], isChanged = false): readonly SandboxSummary[] =>
  found.filter(({ work }) => !isChanged || (work?.files ?? 0) > 0);

/** Shows sandboxes to a person or a program, the one that was called last first. */
export function showList({ talk, found, sandboxes, isAll, spent }: ShownList): void {
  if (sandboxes.length === 0)
    return talk.notice(
      found.length === 0 ? 'No sandboxes. Make one: litterbox create NAME.' : 'No sandbox differs from its base.',
    );
  const calledAtMs = ({ lastCall, createdAtMs }: SandboxSummary) =>
    lastCall?.isRunning ? Number.POSITIVE_INFINITY : (lastCall?.atMs ?? createdAtMs);
  const newestFirst = sandboxes.toSorted((one, other) => (calledAtMs(other) > calledAtMs(one) ? 1 : -1));
  talk.result(listText(talk, newestFirst, isAll, spent));
  // Those of this repository are found from where it is now.
  for (const repository of new Set(isAll ? sandboxes.map((one) => one.repository) : []))
    if (!existsSync(repository))
      talk.notice(
        `${visibleName(repository)} is not there any more. If you moved it, its sandboxes are listed in the new place. To give one up: litterbox -C ${visibleName(repository)} delete NAME --force.`,
      );
  for (const [state, did] of [
    ['slow', 'did not answer in time'],
    ['unreachable', 'cannot be reached'],
  ] as const) {
    const silent = [...new Set(sandboxes.filter((one) => one.state === state).map(({ provider }) => provider))];
    if (silent.length > 0)
      talk.notice(
        `${silent.join(' and ')} ${did}. Sandboxes marked "${state}" have not been changed. Details: litterbox doctor.`,
      );
  }
}

function listText(
  talk: Talk,
  sandboxes: readonly SandboxSummary[],
  isAll: boolean,
  spentBy: ReadonlyMap<string, Spent> | undefined,
): string {
  const isForPerson = process.stdout.isTTY;
  const width = process.stdout.columns || 80;
  const spent: readonly Column[] = spentBy
    ? ['TOKENS', 'TIME', 'CPU TIME', 'MEMORY', 'DISK'].map((header, at) => ({
        header,
        cell: ({ id }: SandboxSummary) => spentBy.get(id)?.[at] ?? '',
      }))
    : [];
  let columns: readonly Column[] = [...columnsOf(talk, sandboxes, isAll, isForPerson), ...spent];
  for (;;) {
    const rows = sandboxes.map((sandbox) => columns.map(({ cell }) => cell(sandbox)));
    const text = table(
      columns.map(({ header }) => header),
      rows,
      isForPerson,
    );
    const ranks = columns.flatMap(({ rank }) => rank ?? []);
    const widest = Math.max(...text.split('\n').map((line) => stripVTControlCharacters(line).length));
    if (!isForPerson || widest <= width || ranks.length === 0) return text;
    columns = columns.filter(({ rank }) => rank !== Math.max(...ranks));
  }
}

/** A program gets all columns, whatever is in them. */
function columnsOf(
  talk: Talk,
  sandboxes: readonly SandboxSummary[],
  isAll: boolean,
  isForPerson: boolean,
): readonly Column[] {
  const isElsewhere = sandboxes.some(({ host }) => host !== LOCAL_HOST);
  const hasForks = sandboxes.some(({ forkedFrom }) => forkedFrom !== undefined);
  const hasKinds = !isForPerson || new Set(sandboxes.map(({ provider }) => parseProviderKey(provider).kind)).size > 1;
  const work = (index: number) => (sandbox: SandboxSummary) => workCells(sandbox.work)[index] ?? '';
  return [
    { header: 'NAME', cell: ({ name }) => name },
    { header: 'STATE', cell: (sandbox) => stateCell(talk, sandbox) },
    ...(hasKinds
      ? [
          {
            header: 'PROVIDER',
            cell: ({ provider }: SandboxSummary) => (isElsewhere ? parseProviderKey(provider).kind : provider),
            rank: 3,
          },
        ]
      : []),
    ...(isElsewhere ? [{ header: 'HOST', cell: ({ host }: SandboxSummary) => host, rank: 1 }] : []),
    ...(isAll
      ? []
      : [
          { header: 'CHANGES', cell: work(0) },
          { header: isForPerson ? 'REV' : 'REVISIONS', cell: work(1), rank: 4 },
          { header: 'MILESTONE', cell: work(2), rank: 2 },
        ]),
    ...(sandboxes.some(({ labels }) => labels)
      ? [{ header: 'LABELS', cell: ({ labels }: SandboxSummary) => labelsCell(labels), rank: 6 }]
      : []),
    { header: 'LAST CALL', cell: (one) => callCell(talk, one, isForPerson) },
    ...(hasForks
      ? [{ header: 'FORKED FROM', cell: ({ forkedFrom }: SandboxSummary) => forkedFrom ?? '', rank: 5 }]
      : []),
    ...(sandboxes.some(({ conflicts }) => conflicts)
      ? [{ header: 'CONFLICTS', cell: (one: SandboxSummary) => conflictsCell(talk, one), rank: 0 }]
      : []),
    ...(isAll ? [{ header: 'REPOSITORY', cell: ({ repository }: SandboxSummary) => visibleName(repository) }] : []),
  ];
}

/** With the branch, and with other sandboxes. */
function conflictsCell(talk: Talk, { conflicts }: SandboxSummary): string {
  if (!conflicts) return '';
  const { branchFiles, sandboxes } = conflicts;
  const [first] = sandboxes;
  const others = first === undefined ? [] : [sandboxes.length === 1 ? first : `${first} +${sandboxes.length - 1}`];
  return talk.paint(branchFiles > 0 ? 'red' : 'yellow', [...(branchFiles > 0 ? ['branch'] : []), ...others].join(', '));
}

const labelsCell = (labels: SandboxSummary['labels'] = {}) =>
  Object.entries(labels)
    .map(([name, value]) => visibleName(value === '' ? name : `${name}=${value}`))
    .join(' ');

function stateCell(talk: Talk, { state, isDegraded }: SandboxSummary): string {
  const paint = {
    ready: 'green',
    paused: 'yellow',
    stopped: 'yellow',
    creating: 'cyan',
    deleting: 'cyan',
    'setup-failed': 'red',
    missing: 'red',
    unreachable: 'yellow',
    slow: 'yellow',
    error: 'red',
  } as const;
  return talk.paint(paint[state], state) + (isDegraded ? talk.paint('red', ' (degraded)') : '');
}

const CALLERS: Readonly<Record<string, string>> = { cli: 'person', library: 'program', mcp: 'agent' };

/** When somebody called last, and for a person who it was. */
function callCell(talk: Talk, { lastCall, agent }: SandboxSummary, isForPerson: boolean): string {
  if (agent !== undefined && isForPerson) return talk.paint('cyan', `${visibleName(agent)} at work`);
  if (!lastCall) return '';
  const { atMs, isRunning, actor } = lastCall;
  const who = isForPerson ? ` ${CALLERS[actor] ?? visibleName(actor)}` : '';
  if (isRunning) return talk.paint('cyan', isForPerson ? `now${who}` : 'at work');
  return isForPerson ? `${shortAge(atMs)}${who}` : ago(atMs);
}

/** What differs from the base, how many revisions there are, and whether the last of them is offered for review. */
function workCells(work: RecordedWork | undefined): readonly string[] {
  if (!work) return ['', '', ''];
  const { revisions, unmilestoned, files, addedLines, removedLines } = work;
  if (revisions === 0) return ['none', '0', ''];
  const milestone = unmilestoned === 0 ? 'offered' : unmilestoned === revisions ? 'none' : `${unmilestoned} after it`;
  const changes = `+${addedLines} -${removedLines}, ${files === 1 ? 'one file' : `${files} files`}`;
  return [files === 0 ? 'none' : changes, String(revisions), milestone];
}
