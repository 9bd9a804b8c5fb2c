import type { PatchFile, PatchHunk } from '../answers.ts';
import { element } from '../element.ts';

/** The heading of a file as it is now, and what a person does with it. */
interface FileHead {
  readonly taken: 'all' | 'some' | 'none';
  readonly isFolded: boolean;
  /** Why it is read first. */
  readonly reason: string | undefined;
  onTake(isTaken: boolean): void;
  onFold(): void;
  /** Whether all of its lines are shown, and not those around its changes alone. */
  readonly isWhole: boolean;
  onWhole(): void;
}

/** Whether hunks of it can be taken: of one hunk the file itself is. */
export const isDivisible = ({ digest, hunks }: PatchFile): boolean => digest !== undefined && hunks.length > 1;

export function fileHead(
  file: PatchFile,
  { taken, isFolded, reason, isWhole, onTake, onFold, onWhole }: FileHead,
): HTMLElement {
  const take = takeBox(`Take ${file.name}`, 'Take this file', taken === 'all', onTake);
  take.indeterminate = taken === 'some';
  return element(
    'div',
    { class: 'file-head' },
    element(
      'button',
      {
        class: 'fold',
        'aria-expanded': String(!isFolded),
        'aria-label': `Lines of ${file.name}`,
        onclick: onFold,
      },
      isFolded ? '▸' : '▾',
    ),
    element('h3', {}, file.fromName !== undefined && `${file.fromName} → `, file.name),
    file.change !== 'modified' && element('span', { class: `tag ${file.change}` }, file.change),
    reason !== undefined && element('span', { class: 'tag risk' }, reason),
    hasMore(file) && wholeButton(file, isWhole, onWhole),
    element('label', { class: 'take' }, take, 'take'),
  );
}

function wholeButton({ name }: PatchFile, isWhole: boolean, onWhole: () => void): HTMLElement {
  const words = isWhole ? 'changes alone' : 'whole file';
  return element('button', { class: 'whole', 'aria-label': `${words} of ${name}`, onclick: onWhole }, words);
}

/** Whether a file has lines that the diff has not. */
export const hasMore = ({ change, isBinary, hunks, leftOut }: PatchFile): boolean =>
  (change === 'modified' || change === 'renamed') && !isBinary && hunks.length > 0 && leftOut === 0;

/** @param at place of the hunk in its file */
export function hunkHead(file: PatchFile, at: number, isTaken: boolean, onTake: FileHead['onTake']): HTMLElement {
  const { newStart, title } = file.hunks[at] as PatchHunk;
  const heading = [`Line ${newStart}`, element('span', {}, title)];
  if (!isDivisible(file)) return element('div', { class: 'hunk' }, ...heading);
  const label = `Take the change at line ${newStart} of ${file.name}`;
  const take = takeBox(label, 'Take this hunk', isTaken, onTake);
  return element('div', { class: 'hunk' }, ...heading, element('label', { class: 'take' }, take, 'take'));
}

function takeBox(label: string, title: string, isTaken: boolean, onTake: FileHead['onTake']): HTMLInputElement {
  const take = element('input', {
    type: 'checkbox',
    'aria-label': label,
    title,
    onchange: () => onTake(take.checked),
  });
  take.checked = isTaken;
  return take;
}
