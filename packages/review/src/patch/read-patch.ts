import { encodeRaw, SeenChanges, visible, visibleName } from '@litterbox/core';
import { gitPath, headerPath } from './git-path.ts';
import type { PatchFile, PatchHunk, PatchLine } from './patch-file.ts';
import { type CutLine, patchLines } from './patch-lines.ts';

/** Bounds of what a page holds in memory. */
export interface PatchBounds {
  readonly maxLines: number;
  readonly maxFileLines: number;
  readonly maxLineCharacters: number;
  /** In all lines together. */
  readonly maxCharacters: number;
}

export const PATCH_BOUNDS: PatchBounds = {
  maxLines: 600_000,
  maxFileLines: 100_000,
  maxLineCharacters: 4_000,
  maxCharacters: 64 * 2 ** 20,
};

/** Ends of the lines of a file while they come. */
class ComingEnds {
  #ofWindows = 0;
  #all = 0;
  #isLast = false;

  add({ text, tail }: CutLine): void {
    // The last line of a file may have no end.
    if (text.startsWith('\\')) return void (this.#all -= this.#isLast ? 0 : 1);
    this.#isLast = (tail === '' ? text : tail).endsWith('\r');
    this.#all++;
    if (this.#isLast) this.#ofWindows++;
  }

  /** The file, without ends that all of its lines have. */
  ended(file: PatchFile): PatchFile {
    if (this.#ofWindows === 0 || this.#ofWindows < this.#all) return file;
    return { ...file, isCrLf: true, hunks: file.hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(withoutEnd) })) };
  }
}

const CR = visible('\r');
const trimmed = (text: string) => (text.endsWith(CR) ? text.slice(0, -CR.length) : text);

function withoutEnd(line: PatchLine): PatchLine {
  if (typeof line !== 'string') return [line[0], line[1], trimmed(line[2])];
  return line.startsWith('\\') ? line : trimmed(line);
}

/** Nobody chooses among the changes of a file that has more. */
const MAX_CHANGED_CHARACTERS = 8 * 2 ** 20;

/** The changes of a file while its lines come. One that is too long for memory leaves no digest. */
class ComingChanges {
  readonly #seen = new SeenChanges();
  #isWhole = true;
  #characters = 0;

  get count(): number {
    return this.#seen.count;
  }

  add({ text, more, tail }: CutLine): void {
    this.#characters += text.length + tail.length + 1;
    if (more > 0 || this.#characters > MAX_CHANGED_CHARACTERS) this.#isWhole = false;
    // They are counted further, by their signs alone.
    if (this.#isWhole) this.#seen.add(encodeRaw(text + tail));
    else this.#seen.add(encodeRaw(text.slice(0, 1)));
  }

  endHunk(): void {
    this.#seen.end();
  }

  /** The file, with the digest where some of its changes may be taken. */
  async ended(file: PatchFile): Promise<PatchFile> {
    const { change, isBinary, modes, hunks, leftOut } = file;
    const isDivisible = change === 'modified' && !isBinary && !modes && hunks.length > 0 && leftOut === 0;
    return isDivisible && this.#isWhole ? { ...file, digest: await this.#seen.digest() } : file;
  }
}

type Growing = { -readonly [Key in keyof PatchFile]: PatchFile[Key] } & { readonly hunks: PatchHunk[] };

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/s;

/** Files of a patch of git as they come: names and lines made harmless to look at, with bounds. */
export async function* readPatch(
  source: AsyncIterable<Uint8Array>,
  bounds: PatchBounds = PATCH_BOUNDS,
): AsyncGenerator<PatchFile, void, undefined> {
  let file: Growing | undefined;
  let hunk: PatchHunk | undefined;
  let changes = new ComingChanges();
  let ends = new ComingEnds();
  let left = { old: 0, new: 0 };
  let total = 0;
  let ofFile = 0;
  let characters = 0;
  const hasRoom = () => total < bounds.maxLines && ofFile < bounds.maxFileLines && characters < bounds.maxCharacters;
  for await (const line of patchLines(source)) {
    const { text } = line;
    const isInHunk = left.old > 0 || left.new > 0 || (hunk !== undefined && text.startsWith('\\'));
    if (isInHunk && hunk && file) {
      if (text[0] !== '+' && text[0] !== '\\') left.old--;
      if (text[0] !== '-' && text[0] !== '\\') left.new--;
      if (file.leftOut === 0) changes.add(line);
      ends.add(line);
      if (hasRoom()) {
        const shown = shownLine(line, bounds.maxLineCharacters);
        total++;
        ofFile++;
        characters += typeof shown === 'string' ? shown.length : shown[0].length + shown[2].length;
        hunk.lines.push(shown);
      } else file.leftOut++;
      continue;
    }
    if (text.startsWith('diff --git ')) {
      if (file) yield ends.ended(await changes.ended(file));
      file = newFile(headerPath(text));
      changes = new ComingChanges();
      ends = new ComingEnds();
      hunk = undefined;
      ofFile = 0;
      continue;
    }
    const [found, oldStart, oldLines = '1', newStart, newLines = '1', title = ''] = HUNK.exec(text) ?? [];
    if (found !== undefined && file) {
      changes.endHunk();
      const starts = { oldStart: Number(oldStart), newStart: Number(newStart), firstChange: changes.count };
      hunk = { ...starts, title: visibleName(title), lines: [] };
      left = { old: Number(oldLines), new: Number(newLines) };
      if (hasRoom()) file.hunks.push(hunk);
    } else if (file) readHeader(file, text);
  }
  if (file) yield ends.ended(await changes.ended(file));
}

function newFile(path: string): Growing {
  return { path, name: visibleName(path), change: 'modified', isBinary: false, hunks: [], leftOut: 0 };
}

/** Neither a link nor a submodule looks like one by its lines. */
const NO_FILE = /^index \S+ (120000|160000)$/;

function readHeader(file: Growing, text: string): void {
  const [, kind] = NO_FILE.exec(text) ?? [];
  if (kind !== undefined) file.modes = [kind, kind];
  const [, key, value = ''] =
    /^(old mode|new mode|new file mode|deleted file mode|rename from|rename to|Binary files) (.*)$/s.exec(text) ?? [];
  if (key === 'Binary files') file.isBinary = true;
  else if (key === 'old mode') file.modes = [value, value];
  else if (key === 'new mode') file.modes = [file.modes?.[0] ?? '', value];
  else if (key === 'new file mode') {
    file.change = 'added';
    if (value !== '100644') file.modes = ['', value];
  } else if (key === 'deleted file mode') {
    file.change = 'deleted';
    if (value !== '100644') file.modes = [value, ''];
  } else if (key === 'rename from') {
    file.change = 'renamed';
    file.from = gitPath(value);
    file.fromName = visibleName(file.from);
  } else if (key === 'rename to') {
    file.path = gitPath(value);
    file.name = visibleName(file.path);
  }
}

/** Both ends: whoever hides something in a long line puts it behind what is harmless. */
function shownLine({ text, more, tail }: CutLine, maxCharacters: number): PatchLine {
  const shown = visible(text);
  const end = visible(tail);
  if (shown.length + end.length <= maxCharacters && more === 0) return shown + end;
  const half = Math.floor(maxCharacters / 2);
  const last = (shown.slice(half) + end).slice(-half);
  return [shown.slice(0, half), Math.max(0, shown.length - half) + more + end.length - last.length, last];
}
