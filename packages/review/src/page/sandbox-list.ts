import type { Forecast, Summary, Works } from './answers.ts';
import { element } from './element.ts';
import { conflictsOf } from './overview.ts';
import { ago, counted } from './words.ts';

/** The result of a look into a sandbox; where there is none, why. */
export type Verdict = Findings | { readonly refused: string };

interface Findings {
  readonly risks: number;
  readonly proof: 'good' | 'fair' | 'bad';
  readonly proofText: string;
}

/** All sandboxes of the page, the one that moved last first. */
export function sandboxList(
  { sandboxes }: Works,
  forecast: Forecast | undefined,
  verdicts: ReadonlyMap<string, Verdict>,
  selected: string | undefined,
  onSelect: (name: string) => void,
): HTMLElement {
  const item = (summary: Summary) => {
    const conflicts = conflictsOf(forecast, summary.name);
    const withBranch = conflicts.some(({ other }) => other === undefined);
    const verdict = verdicts.get(summary.name);
    return element(
      'li',
      {},
      element(
        'button',
        {
          class: 'sandbox',
          'aria-current': summary.name === selected ? 'true' : undefined,
          onclick: () => onSelect(summary.name),
        },
        element('span', { class: 'name' }, summary.name),
        element('span', { class: 'faint' }, whoAndWhen(summary)),
        element('span', { class: 'work' }, ...workParts(summary)),
        element(
          'span',
          { class: 'chips' },
          ...(verdict ? verdictChips(verdict) : []),
          conflicts.length > 0 &&
            element(
              'span',
              { class: `chip ${withBranch ? 'bad' : 'fair'}` },
              withBranch ? 'conflicts' : `conflicts with ${otherOf(conflicts[0], summary.name)}`,
            ),
          summary.state !== 'ready' && element('span', { class: 'chip' }, summary.state),
        ),
      ),
    );
  };
  return element('ul', { class: 'sandboxes' }, ...sandboxes.map(item));
}

function verdictChips(verdict: Verdict): (HTMLElement | false)[] {
  if ('refused' in verdict) return [element('span', { class: 'chip', title: verdict.refused }, 'cannot be looked at')];
  return [
    verdict.risks > 0 && element('span', { class: 'chip bad' }, `${verdict.risks} to read first`),
    element('span', { class: `chip ${verdict.proof}` }, verdict.proofText),
  ];
}

const otherOf = (conflict: { readonly sandbox: string; readonly other?: string } | undefined, name: string) =>
  conflict?.sandbox === name ? (conflict.other ?? '') : (conflict?.sandbox ?? '');

function whoAndWhen({ agent, lastCall, createdAtMs }: Summary): string {
  const who = agent ?? lastCall?.actor;
  const when = lastCall?.isRunning ? 'at work now' : ago(lastCall?.atMs ?? createdAtMs);
  return who === undefined ? when : `${who}, ${when}`;
}

function workParts({ work }: Summary): (string | HTMLElement)[] {
  if (!work || work.files === 0) return ['no changes'];
  return [
    element('span', { class: 'plus' }, `+${work.addedLines.toLocaleString('en')}`),
    ' ',
    element('span', { class: 'minus' }, `−${work.removedLines.toLocaleString('en')}`),
    ` in ${counted(work.files, 'file')}`,
  ];
}
