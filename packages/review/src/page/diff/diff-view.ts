import type { PatchFile, RiskGroup } from '../answers.ts';
import { changedPart } from './changed-part.ts';
import { codeText } from './code-text.ts';
import { BinaryView, type ReadSides } from './binary-view.ts';
import { fileHead, hasMore, hunkHead, isDivisible } from './diff-heads.ts';
import { type Row, rowsOf, type Side, textOf } from './diff-rows.ts';
import { element } from '../element.ts';
import { languageOf } from './language-of.ts';
import { guessHeight } from './guess-height.ts';
import { Painter } from './painter.ts';
import { Taken } from '../taken.ts';
import { VirtualList } from './virtual-list.ts';

/** Events of the diff. */
export interface DiffEvents {
  onFile(file: PatchFile | undefined): void;
  onLine(file: PatchFile, line: number): void;
  onTake(path: string, isTaken: boolean): void;
  onTakeHunk(file: PatchFile, hunk: number, isTaken: boolean): void;
  readSides: ReadSides;
  /** All lines of a file; undefined when it could not be read, which has been said. */
  readWhole(file: PatchFile): Promise<PatchFile | undefined>;
}

const FOLDED_LINES = 3_000;

/** The changed files, one after the other. */
export class DiffView {
  readonly #list: VirtualList;
  readonly #events: DiffEvents;
  readonly #painter = new Painter(() => this.#list.redraw());
  #files: PatchFile[] = [];
  #rows: Row[] = [];
  /** Where the rows of each file begin. */
  #starts: number[] = [];
  #shown = 0;
  readonly #folded = new Map<string, boolean>();
  /** Files of which all lines are shown. */
  readonly #wholes = new Map<string, PatchFile>();
  readonly #binaries: BinaryView;
  #taken = new Taken();
  #reasons: ReadonlyMap<string, string> = new Map();
  #isSplit = false;
  #lastFile: PatchFile | undefined;
  /** The row that keys are about; the first that is seen where it is out of sight. */
  #cursor: number | undefined;

  constructor(label: string, events: DiffEvents) {
    this.#events = events;
    this.#list = new VirtualList(label, () => this.#noteFile());
    this.#binaries = new BinaryView(events.readSides, () => this.#list.redraw());
  }

  get view(): HTMLElement {
    return this.#list.scroller;
  }

  get isSplit(): boolean {
    return this.#isSplit;
  }

  clear(): void {
    this.#binaries.clear();
    this.#wholes.clear();
    this.#files = [];
    this.#build();
  }

  /** Files that came; they stand behind those that are there. */
  add(files: readonly PatchFile[]): void {
    const kept = this.#rows.length;
    for (const file of files) this.#append(this.#files.push(file) - 1);
    this.#show(kept);
  }

  setSplit(isSplit: boolean): void {
    const current = this.#current();
    this.#isSplit = isSplit;
    this.view.classList.toggle('split', isSplit);
    this.#build();
    this.#list.scrollTo(this.#starts[current] ?? 0);
  }

  setTaken(taken: Taken): void {
    this.#taken = taken;
    this.#list.redraw();
  }

  setRisks(groups: readonly RiskGroup[]): void {
    this.#reasons = new Map(
      groups.flatMap(({ reason, entries }) => entries.map(({ path }) => [path, reason] as const)),
    );
    this.#list.redraw();
  }

  scrollToPath(path: string): boolean {
    const at = this.#files.findIndex(
      (file) => file.path === path || (path.endsWith('/') && file.path.startsWith(path)),
    );
    if (at < 0) return false;
    this.#moveTo(this.#starts[at] ?? 0);
    return true;
  }

  /** To the next file or hunk, or back. */
  step(kind: 'file' | 'hunk', by: 1 | -1): void {
    const isWanted = (row: Row | undefined) => row?.type === kind;
    let at = this.#place + by;
    while (at >= 0 && at < this.#rows.length && !isWanted(this.#rows[at])) at += by;
    if (isWanted(this.#rows[at])) this.#moveTo(at);
  }

  /** A list that is short does not move: what keys are about has a mark. */
  #moveTo(row: number): void {
    this.#cursor = row;
    this.#list.scrollTo(row);
    this.#list.redraw();
    this.#noteFile();
  }

  get #place(): number {
    return this.#cursor !== undefined && this.#list.isSeen(this.#cursor) ? this.#cursor : this.#list.first;
  }

  fold(): void {
    const file = this.#files[this.#current()];
    if (file) this.#toggle(file);
  }

  /** Shows all lines of the file, or its changes alone again. */
  async toggleWhole(file = this.currentFile): Promise<void> {
    if (!file || !hasMore(file)) return;
    if (!this.#wholes.delete(file.path)) {
      const whole = await this.#events.readWhole(file);
      if (!whole || !this.#files.includes(file)) return;
      this.#wholes.set(file.path, whole);
      this.#folded.set(file.path, false);
    }
    this.#build();
    this.#moveTo(this.#starts[this.#files.indexOf(file)] ?? 0);
  }

  #shownFile(at: number): PatchFile {
    const file = this.#files[at] as PatchFile;
    return this.#wholes.get(file.path) ?? file;
  }

  #noteFile(): void {
    const file = this.currentFile;
    if (file === this.#lastFile) return;
    this.#lastFile = file;
    this.#events.onFile(file);
  }

  get currentFile(): PatchFile | undefined {
    return this.#files[this.#current()];
  }

  /** The hunk that keys are about, of a file that can be taken by hunks. */
  get currentHunk(): { readonly file: PatchFile; readonly at: number } | undefined {
    const row = this.#rows[this.#place];
    const file = row && this.#shownFile(row.file);
    if (!file || !row || !isDivisible(file)) return undefined;
    const hunk = row.type === 'hunk' ? row.hunk : row.type === 'lines' ? (row.right ?? row.left)?.hunk : undefined;
    return hunk && { file, at: file.hunks.indexOf(hunk) };
  }

  #current(): number {
    return this.#rows[this.#place]?.file ?? 0;
  }

  #toggle(file: PatchFile): void {
    this.#folded.set(file.path, !this.#isFolded(file));
    const at = this.#files.indexOf(file);
    this.#build();
    this.#list.scrollTo(this.#starts[at] ?? 0);
  }

  #isFolded(file: PatchFile): boolean {
    return this.#folded.get(file.path) ?? file.hunks.reduce((sum, { lines }) => sum + lines.length, 0) > FOLDED_LINES;
  }

  #build(): void {
    this.#cursor = undefined;
    this.#rows = [];
    this.#starts = [];
    this.#files.forEach((_file, at) => this.#append(at));
    this.#show(0);
  }

  #append(at: number): void {
    const file = this.#shownFile(at);
    this.#starts[at] = this.#rows.length;
    for (const row of rowsOf(file, at, this.#isSplit, this.#isFolded(file))) this.#rows.push(row);
  }

  #show(kept: number): void {
    this.#shown = kept === 0 ? 0 : this.#shown;
    const columns = this.#columns();
    this.#list.show(
      {
        length: this.#rows.length,
        guess: (index) => guessHeight(this.#rows[index] as Row, columns),
        draw: (index) => {
          const row = this.#draw(this.#rows[index] as Row);
          if (index === this.#cursor) row.classList.add('cursor');
          return row;
        },
      },
      kept,
    );
  }

  /** Characters that a line of code has room for. */
  #columns(): number {
    const width = this.view.clientWidth || 800;
    return Math.max(10, Math.floor((this.#isSplit ? width / 2 - 70 : width - 120) / 7.3));
  }

  #draw(row: Row): HTMLElement {
    const file = this.#shownFile(row.file);
    if (row.type === 'file')
      return fileHead(file, {
        taken: this.#taken.of(file.path),
        isFolded: this.#isFolded(file),
        reason: this.#reasons.get(file.path),
        onTake: (isTaken) => this.#events.onTake(file.path, isTaken),
        isWhole: this.#wholes.has(file.path),
        onFold: () => this.#toggle(this.#files[row.file] as PatchFile),
        onWhole: () => void this.toggleWhole(this.#files[row.file]),
      });
    if (row.type === 'hunk') {
      const at = file.hunks.indexOf(row.hunk);
      const onTake = (isTaken: boolean) => this.#events.onTakeHunk(file, at, isTaken);
      return hunkHead(file, at, this.#taken.hasHunk(file.path, at), onTake);
    }
    if (row.type === 'binary') return this.#binaries.draw(file);
    if (row.type === 'note') return element('div', { class: 'note' }, row.text);
    return this.#isSplit ? this.#splitLine(file, row) : this.#unifiedLine(file, row);
  }

  #unifiedLine(file: PatchFile, { left, right }: { readonly left?: Side; readonly right?: Side }): HTMLElement {
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

  #splitLine(file: PatchFile, { left, right }: { readonly left?: Side; readonly right?: Side }): HTMLElement {
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
        onclick: () => this.#events.onLine(file, side.number),
      },
      String(side.number),
    );
  }

  #code(file: PatchFile, { hunk, index }: Side, side: 'old' | 'new', isChange: boolean): HTMLElement {
    const line = hunk.lines[index];
    const text = textOf(line);
    const tokens = this.#painter.tokens(hunk, index, side, languageOf(file.path));
    const gap = typeof line === 'object' ? { more: line[1], tail: line[2] } : undefined;
    return codeText(text, tokens, isChange ? changedPart(hunk, index) : undefined, gap);
  }
}
