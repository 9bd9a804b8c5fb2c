import type { Conflict, Forecast, NamedPath, Plan, RiskGroup, TestRun } from './answers.ts';
import { element } from './element.ts';
import { ago, counted } from './words.ts';

/** A part of the overview with a heading that says the result. */
export function section(kind: string, title: string, tone: string, ...children: (Node | string)[]): HTMLElement {
  return element(
    'details',
    { class: `part ${kind}`, open: true },
    element('summary', {}, element('span', { class: `dot ${tone}` }), element('h2', {}, title)),
    ...children,
  );
}

/** Files that run on the person's machine or hide what they hold, the most dangerous first. */
export function risksPart({ risks }: Plan, onPath: (path: string) => void): HTMLElement {
  if (risks.files === 0) return section('risks', 'No file runs code on its own', 'good');
  const groups = risks.groups.map((group) => riskGroup(group, onPath));
  const more = risks.unlisted > 0 ? [element('p', { class: 'faint' }, `and ${risks.unlisted} more`)] : [];
  return section('risks', `${counted(risks.files, 'file')} to read first`, 'bad', ...groups, ...more);
}

function riskGroup({ reason, files, entries }: RiskGroup, onPath: (path: string) => void): HTMLElement {
  const item = ({ path, name, files: inside, also }: RiskGroup['entries'][number]) =>
    element(
      'li',
      {},
      element(
        'button',
        { class: 'path', onclick: () => onPath(path) },
        inside > 1 ? `${name} (${inside} files)` : name,
      ),
      also.length > 0 && element('span', { class: 'faint' }, also.join('; ')),
    );
  return element(
    'div',
    { class: 'group' },
    element('h3', {}, files > 1 ? `${reason} (${files} files)` : reason),
    element('ul', {}, ...entries.map(item)),
  );
}

export const testTone = ({ exitCode, isOwnExit, changesSince }: TestRun): 'good' | 'fair' | 'bad' =>
  exitCode !== undefined && exitCode !== 0 && isOwnExit
    ? 'bad'
    : exitCode === 0 && isOwnExit && changesSince === 0
      ? 'good'
      : 'fair';

/** Whether it was tested, and whether that saw the files as they are. @param isPart some of its changes alone are taken */
export function proofPart({ proof }: Plan, onCall: (call: number) => void, isPart = false): HTMLElement {
  const [last] = proof.tests;
  const tested = (title: string, tone: string) =>
    section('proof', title, tone, element('ul', {}, ...proof.tests.map((test) => testItem(test, onCall))));
  if (!last) {
    const where = proof.isMore ? `the last ${proof.looked} calls` : 'any call';
    return section(
      'proof',
      'Not tested',
      'fair',
      element('p', { class: 'faint' }, `No command of ${where} looks like a test.`),
    );
  }
  const titles = { good: 'Tested as it is now', fair: 'Tested, but not as it is now', bad: 'Its tests fail' };
  if (isPart && testTone(last) === 'good') return tested('Tested with all its changes, not with these alone', 'fair');
  const tone = testTone(last);
  const title = tone === 'fair' && last.changesSince === 0 ? 'The result of its tests is not known' : titles[tone];
  return tested(title, tone);
}

function testItem(test: TestRun, onCall: (call: number) => void): HTMLElement {
  const { call, command, outcome, exitCode, isOwnExit, changesSince, atMs } = test;
  const ended = exitCode === undefined ? `did not end (${outcome})` : `exit ${exitCode}`;
  const whose = isOwnExit || exitCode === undefined ? '' : ' of something else in it';
  const since = changesSince === 0 ? 'nothing changed since' : `${counted(changesSince, 'change')} since`;
  return element(
    'li',
    { class: `test ${testTone(test)}` },
    element('button', { class: 'command', onclick: () => onCall(call), title: 'What it printed' }, command),
    element('span', { class: 'faint' }, `call ${call}, ${ended}${whose}, ${since}, ${ago(atMs)}`),
  );
}

/** Everything that stands in the way of taking it in. */
export function conflictsPart(
  plan: Plan,
  forecast: Forecast | undefined,
  name: string,
  { settled, onConflict }: SettlingEvents,
): HTMLElement {
  const others = conflictsOf(forecast, name).filter(({ other }) => other !== undefined);
  const lines = [
    ...conflictLines(`Conflicts with ${plan.branch ?? 'your commit'}`, plan.conflicts, onConflict),
    ...conflictLines('Settled, for when you apply or merge', settled, onConflict, 'Change'),
    ...pathLines('You have uncommitted edits in', plan.dirty),
    ...others.flatMap(({ sandbox, other, paths }) =>
      pathLines(`Conflicts with ${sandbox === name ? other : sandbox}`, paths),
    ),
    ...pathLines('In commits on the way, and not in the last one', plan.passing),
  ];
  const has = plan.already.length > 0 ? 'work tree' : 'branch';
  if (plan.upToDate) return section('conflicts', `Your ${has} has it all`, 'good');
  if (lines.length === 0)
    return section('conflicts', `Merges cleanly into ${plan.branch ?? plan.head.slice(0, 10)}`, 'good');
  const tone = plan.conflicts.length > 0 ? 'bad' : 'fair';
  const title =
    plan.conflicts.length > 0 ? counted(plan.conflicts.length, 'conflict') : 'Merges, with something to know';
  return section('conflicts', title, tone, ...lines);
}

/** Ways to settle what conflicts. */
export interface SettlingEvents {
  /** Files that are settled already. */
  readonly settled: readonly NamedPath[];
  onConflict(file: NamedPath): void;
}

function conflictLines(
  title: string,
  files: readonly NamedPath[],
  onConflict: (file: NamedPath) => void,
  verb = 'Settle',
): HTMLElement[] {
  if (files.length === 0) return [];
  const shown = files.slice(0, 100);
  const item = (file: NamedPath) =>
    element(
      'li',
      {},
      element('code', {}, file.name),
      element(
        'button',
        { class: 'settle', 'aria-label': `${verb} ${file.name}`, onclick: () => onConflict(file) },
        `${verb} …`,
      ),
    );
  return [
    element(
      'div',
      { class: 'group' },
      element('h3', {}, title),
      element('ul', {}, ...shown.map(item)),
      files.length > shown.length && element('p', { class: 'faint' }, `and ${files.length - shown.length} more`),
    ),
  ];
}

function pathLines(title: string, paths: readonly string[]): HTMLElement[] {
  if (paths.length === 0) return [];
  const shown = paths.slice(0, 12);
  return [
    element(
      'div',
      { class: 'group' },
      element('h3', {}, title),
      element('ul', {}, ...shown.map((path) => element('li', {}, element('code', {}, path)))),
      paths.length > shown.length && element('p', { class: 'faint' }, `and ${paths.length - shown.length} more`),
    ),
  ];
}

export const conflictsOf = (forecast: Forecast | undefined, name: string): readonly Conflict[] =>
  forecast?.conflicts.filter(({ sandbox, other }) => sandbox === name || other === name) ?? [];
