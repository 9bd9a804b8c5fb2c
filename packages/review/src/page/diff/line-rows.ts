import type { PatchFile } from '../answers.ts';
import { changedParts } from './changed-parts.ts';
import { codeText } from './code-text.ts';
import { type Side, textOf } from './diff-rows.ts';
import { element } from '../element.ts';
import { languageOf } from './language-of.ts';
import { Painter } from './painter.ts';

/** Draws lines of code. */
export class LineRows {
  readonly #painter: Painter;
  readonly #onLine: (file: PatchFile, line: number) => void;

  /** @param onColours when lines that were drawn have colours */
  constructor(onColours: () => void, onLine: (file: PatchFile, line: number) => void) {
    this.#painter = new Painter(onColours);
    this.#onLine = onLine;
  }

  unified(file: PatchFile, { left, right }: { readonly left?: Side; readonly right?: Side }): HTMLElement {
    const kind = left && right ? '' : left ? 'removed' : 'added';
    return element(
      'div',
      { class: `line ${kind}` },
      element('span', { class: 'number' }, left ? String(left.number) : ''),
      this.#numberOf(file, right),
      element('span', { class: 'sign' }, left && right ? ' ' : left ? '−' : '+'),
      this.#code(file, (right ?? left) as Side, right ? 'new' : 'old', kind !== ''),
    );
  }

  split(file: PatchFile, { left, right }: { readonly left?: Side; readonly right?: Side }): HTMLElement {
    const isSame = left?.index === right?.index;
    const half = (side: Side | undefined, which: 'old' | 'new') => [
      which === 'old'
        ? element('span', { class: 'number' }, side ? String(side.number) : '')
        : this.#numberOf(file, side),
      element(
        'div',
        { class: `half ${side ? (isSame ? '' : which === 'old' ? 'removed' : 'added') : 'nothing'}` },
        side && this.#code(file, side, which, !isSame),
      ),
    ];
    return element('div', { class: 'line two' }, ...half(left, 'old'), ...half(right, 'new'));
  }

  /** The number of a line that is there now leads to the call that wrote it. */
  #numberOf(file: PatchFile, side: Side | undefined): HTMLElement {
    if (!side) return element('span', { class: 'number' });
    return element(
      'button',
      {
        class: 'number',
        tabindex: -1,
        title: 'Which call wrote it',
        'aria-label': `Line ${side.number}: which call wrote it`,
        onclick: () => this.#onLine(file, side.number),
      },
      String(side.number),
    );
  }

  #code(file: PatchFile, { hunk, index }: Side, side: 'old' | 'new', isChange: boolean): HTMLElement {
    const line = hunk.lines[index];
    const text = textOf(line);
    const tokens = this.#painter.tokens(hunk, index, side, languageOf(file.path));
    const gap = typeof line === 'object' ? { more: line[1], tail: line[2] } : undefined;
    return codeText(text, tokens, isChange ? changedParts(hunk, index) : [], gap);
  }
}
