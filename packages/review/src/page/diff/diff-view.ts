import type { PatchFile, PatchHunk, PatchLine, RiskGroup } from '../answers.ts';
import { BinaryView, type ReadSides } from './binary-view.ts';
import { splitHunk } from './changes-of.ts';
import { fileHead, hasMore, hunkHead, isDivisible, isSplittable } from './diff-heads.ts';
import { FOLDED_LINES, linesOf, type Row, rowsOf, sidesOf, wholeText } from './diff-rows.ts';
import { element } from '../element.ts';
import { guessHeight } from './guess-height.ts';
import { LineRows } from './line-rows.ts';
import { Taken } from '../choice/taken.ts';
import { VirtualList } from './virtual-list.ts';

/** Events of the diff. */
export interface DiffEvents {
  onFile(file: PatchFile | undefined): void;
  onLine(file: PatchFile, line: number): void;
  onTake(path: string, isTaken: boolean): void;
  onTakeHunk(file: PatchFile, hunk: PatchHunk, isTaken: boolean): void;
  readSides: ReadSides;
  /** All lines of a file; undefined when it could not be read, which has been said. */
  readWhole(file: PatchFile): Promise<PatchFile | undefined>;
}

/** The changed files, one after the other. */
export class DiffView {
  readonly #list: VirtualList;
  readonly #events: DiffEvents;
  readonly #lines: LineRows;
  #files: PatchFile[] = [];
  #rows: Row[] = [];
  /** Where the rows of each file begin. */
  #starts: number[] = [];
  #shown = 0;
  readonly #folded = new Map<string, boolean>();
  /** Files of which all lines are shown. */
  readonly #wholes = new Map<string, PatchFile>();
  /** Files of which hunks were split. */
  readonly #splits = new Map<string, PatchFile>();
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
    this.#lines = new LineRows(
      () => this.#list.redraw(),
      (file, line) => events.onLine(file, line),
    );
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
    this.#splits.clear();
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

  /** To the next line that holds the words, or back. @returns which of all it is, from 1 */
  find(words: string, by: 1 | -1): { readonly at: number; readonly all: number } {
    const wanted = words.toLowerCase();
    const holds = (line: PatchLine | undefined) => line !== undefined && wholeText(line).toLowerCase().includes(wanted);
    const folded = this.#files.filter((file) => this.#isFolded(file));
    const opened = folded.filter(({ hunks }) => hunks.some(({ lines }) => lines.some(holds)));
    const place = this.#place;
    for (const { path } of opened) this.#folded.set(path, false);
    if (opened.length > 0) this.#build();
    const found = this.#rows.flatMap((row, at) => (row.type === 'lines' && sidesOf(row).some(holds) ? [at] : []));
    const next = by > 0 ? found.findIndex((at) => at > place) : found.findLastIndex((at) => at < place);
    const index = next >= 0 ? next : by > 0 ? 0 : found.length - 1;
    if (found.length > 0) this.#moveTo(found[index] as number);
    return { at: index + 1, all: found.length };
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
    return this.#wholes.get(file.path) ?? this.#splits.get(file.path) ?? file;
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
  get currentHunk(): { readonly file: PatchFile; readonly hunk: PatchHunk } | undefined {
    const found = this.#hunkHere();
    return found && isDivisible(found.file) ? found : undefined;
  }

  #hunkHere(): { readonly file: PatchFile; readonly hunk: PatchHunk; readonly at: number } | undefined {
    const row = this.#rows[this.#place];
    const hunk = row?.type === 'hunk' ? row.hunk : row?.type === 'lines' ? (row.right ?? row.left)?.hunk : undefined;
    return row && hunk && { file: this.#shownFile(row.file), hunk, at: row.file };
  }

  /** Shows each change of the hunk as a hunk of its own. */
  split(found = this.#hunkHere()): void {
    if (!found || !isSplittable(found.file, found.hunk)) return;
    const { file, hunk, at } = found;
    const shown = this.#wholes.has(file.path) ? this.#wholes : this.#splits;
    shown.set(file.path, { ...file, hunks: file.hunks.flatMap((one) => (one === hunk ? splitHunk(one) : [one])) });
    this.#build();
    const row = this.#rows.findIndex(
      (one) => one.type === 'hunk' && one.file === at && one.hunk.firstChange === hunk.firstChange,
    );
    this.#moveTo(row);
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
    return this.#folded.get(file.path) ?? linesOf(file) > FOLDED_LINES;
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
      return hunkHead(file, row.hunk, {
        isTaken: this.#taken.hasHunk(file.path, row.hunk),
        onTake: (isTaken) => this.#events.onTakeHunk(file, row.hunk, isTaken),
        onSplit: () => this.split({ file, hunk: row.hunk, at: row.file }),
      });
    }
    if (row.type === 'binary') return this.#binaries.draw(file);
    if (row.type === 'note') return element('div', { class: 'note' }, row.text);
    return this.#isSplit ? this.#lines.split(file, row) : this.#lines.unified(file, row);
  }
}
