import type { PatchFile, PatchHunk } from '../answers.ts';
import { element } from '../element.ts';
import { changesOf } from './changes-of.ts';

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

/** Whether parts of the hunk can be taken. */
export const isSplittable = ({ digest }: PatchFile, hunk: PatchHunk): boolean =>
  digest !== undefined && changesOf(hunk).length > 1;

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
    file.isCrLf === true && element('span', { class: 'tag', title: 'All lines end as on Windows' }, 'CR LF'),
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

/** A hunk as it is now, and the ways to take it. */
interface HunkHead {
  readonly isTaken: boolean;
  onTake(isTaken: boolean): void;
  onSplit(): void;
}

export function hunkHead(file: PatchFile, hunk: PatchHunk, { isTaken, onTake, onSplit }: HunkHead): HTMLElement {
  const { newStart, title } = hunk;
  const where = `the change at line ${newStart} of ${file.name}`;
  const take = takeBox(`Take ${where}`, 'Take this hunk', isTaken, onTake);
  return element(
    'div',
    { class: 'hunk' },
    `Line ${newStart}`,
    element('span', {}, title),
    isSplittable(file, hunk) &&
      element('button', { class: 'whole', 'aria-label': `Split ${where}`, onclick: onSplit }, 'split'),
    isDivisible(file) && element('label', { class: 'take' }, take, 'take'),
  );
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
