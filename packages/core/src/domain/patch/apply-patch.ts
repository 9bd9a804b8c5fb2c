import { byteCharacters, bytesOfCharacters } from '../text/byte-characters.ts';
import { LitterboxError } from '../errors/errors.ts';
import { joinBytes } from '../text/join-bytes.ts';
import type { FilePatch, PatchHunk } from './file-patch.ts';
import { numbersText } from '../text/numbers-text.ts';
import { decodeRaw, encodeRaw } from '../text/raw-text.ts';
import { shown } from '../text/shown.ts';

/** How many lines may be compared while hunks are looked for away from their places: about a tenth of a second. */
const MAX_COMPARISONS = 20_000_000;

export type PatchOutcome =
  | {
      readonly type: 'applied';
      /** What the file holds now; undefined when it is deleted. */
      readonly content: Uint8Array | undefined;
      /** Present when the patch sets the mode. */
      readonly executable?: boolean;
      readonly addedLines: number;
      readonly removedLines: number;
      /** How many lines away from its place a hunk was found: the most of any hunk, negative when it was before it. */
      readonly shiftedBy?: number;
      /** What was not as it should be, and was taken all the same. */
      readonly notes: readonly string[];
    }
  | {
      /** The file is as the patch would leave it. The mode may still have to be set: {@link FilePatch.executable}. */
      readonly type: 'already-applied';
    };

/** A hunk's two sides. A character stands for a byte, and a line holds its own newline. */
interface Sides {
  readonly hunk: PatchHunk;
  readonly old: readonly string[];
  readonly new: readonly string[];
}

/**
 * What a file becomes by a patch. Its bytes stay as they are wherever the patch does not change them.
 *
 * Lines have to match exactly, with their line ends. A hunk that does not match at its place may match at another one, the
 * nearest first, but hunks stay in order. One without numbers, or with wrong counts, has to match in one place alone. When the
 * new lines are all at their places already and the old ones are not, the patch has been applied before.
 *
 * @throws LitterboxError `PATCH_CONFLICT`.
 */
export function applyPatch(patch: FilePatch, current: Uint8Array | undefined): PatchOutcome {
  const conflict = (what: string, hint = 'Read the file again, and make the patch from what it holds now.') =>
    new LitterboxError('PATCH_CONFLICT', `The patch for ${shown(patch.path)} does not apply: ${what}.`, {
      operation: 'sandbox.patch',
      hint,
    });
  if (patch.isOfLines && current !== undefined && current.length > 0 && current.at(-1) !== NEWLINE)
    return withoutLastNewline(applyPatch(patch, joinBytes([current, Uint8Array.of(NEWLINE)])));
  if (patch.isWhole && current !== undefined)
    return { ...outcome(patch), content: undefined, removedLines: linesOf(current).length };
  const hunks = patch.hunks.map(sidesOf);
  if (patch.type === 'create') {
    const content = bytesOfCharacters(hunks.flatMap((hunk) => hunk.new).join(''));
    if (current === undefined) return { ...outcome(patch), content };
    if (isEqual(current, content)) return { type: 'already-applied' };
    throw conflict('it creates the file, which is there with other content', 'Give a patch that changes the file.');
  }
  if (current === undefined) {
    if (patch.type === 'delete') return { type: 'already-applied' };
    throw conflict('there is no such file', 'Create it with a patch whose old file is --- /dev/null.');
  }

  const lines = linesOf(current);
  const places = placesOf(hunks, lines);
  const isInPlace =
    places.isComplete &&
    places.at.every((at, index) => hunks[index]?.hunk.oldIndex === undefined || at === hunks[index].hunk.oldIndex);
  const isDoubtful = (places.choice?.length ?? 0) > 1;
  if (!isInPlace && !isDoubtful && patch.type === 'modify' && isThere(hunks, lines)) return { type: 'already-applied' };
  if (!places.isComplete) throw conflict(whyNot(hunks, places, lines));

  const content = spliced(current, lines, hunks, places.at);
  if (patch.type === 'delete' && content.length > 0)
    throw conflict('it deletes the file, but does not remove all of its lines');
  let shiftedBy = 0;
  for (const [index, at] of places.at.entries()) {
    const shift = at - (hunks[index]?.hunk.oldIndex ?? at);
    if (Math.abs(shift) > Math.abs(shiftedBy)) shiftedBy = shift;
  }
  return {
    ...outcome(patch),
    content: patch.type === 'delete' ? undefined : content,
    ...(shiftedBy !== 0 && { shiftedBy }),
    notes: [...patch.notes, ...foundNotes(hunks, places.at)],
  };
}

const NEWLINE = 10;

/** Lines that do not say how they end are those of a file whose last one has no newline, too; it stays without. */
function withoutLastNewline(result: PatchOutcome): PatchOutcome {
  if (result.type !== 'applied' || result.content?.at(-1) !== NEWLINE) return result;
  return { ...result, content: result.content.subarray(0, -1) };
}

/** Where hunks without numbers were found. */
function foundNotes(hunks: readonly Sides[], at: readonly number[]): readonly string[] {
  const found = hunks.flatMap(({ hunk }, index) => (hunk.oldIndex === undefined ? [index] : []));
  if (found.length === 0) return [];
  const lines = found.map((index) => (at[index] ?? 0) + 1);
  return [
    `${numbersText(
      'hunk',
      found.map((index) => index + 1),
    )} without numbers: found at ${numbersText('line', lines)}`,
  ];
}

function outcome({ executable, hunks, notes }: FilePatch) {
  let addedLines = 0;
  let removedLines = 0;
  for (const { lines } of hunks)
    for (const line of lines) {
      if (line.startsWith('+')) addedLines += 1;
      else if (line.startsWith('-')) removedLines += 1;
    }
  return { type: 'applied' as const, ...(executable !== undefined && { executable }), addedLines, removedLines, notes };
}

function sidesOf(hunk: PatchHunk): Sides {
  const sides = { hunk, old: [] as string[], new: [] as string[] };
  for (const [index, line] of hunk.lines.entries()) {
    if (line.startsWith('\\')) continue;
    const isUnended = hunk.lines[index + 1]?.startsWith('\\') === true;
    const text = `${byteCharacters(encodeRaw(line.slice(1)))}${isUnended ? '' : '\n'}`;
    if (!line.startsWith('+')) sides.old.push(text);
    if (!line.startsWith('-')) sides.new.push(text);
  }
  return sides;
}

const isEqual = (one: Uint8Array, other: Uint8Array) =>
  one.length === other.length && one.every((byte, index) => byte === other[index]);

function linesOf(bytes: Uint8Array): string[] {
  const lines = byteCharacters(bytes).split('\n');
  const last = lines.pop() ?? '';
  return [...lines.map((line) => `${line}\n`), ...(last === '' ? [] : [last])];
}

interface Places {
  /** Where hunks were found, as indexes of lines; ends before the first one that was not found. */
  readonly at: readonly number[];
  readonly isComplete: boolean;
  /** Where the first one that was not found should have been. */
  readonly missedAt: number;
  readonly isGivenUp: boolean;
  /** Where that one could go, when it has to fit in one place alone and fits in several; or in none below the lines that it names. */
  readonly choice?: readonly number[];
}

/** Finds the old side of every hunk: at its place, moved as the one before was, or as near to that as there is. */
function placesOf(hunks: readonly Sides[], lines: readonly string[], key = (line: string) => line): Places {
  // Lines become numbers, so that a comparison costs the same however long and alike they are.
  const numbers = new Map<string, number>();
  const numberOf = (line: string) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  };
  const wanted = hunks.map((hunk) => hunk.old.map((line) => numberOf(key(line))));
  const found = Int32Array.from(lines, (line) => numbers.get(key(line)) ?? -1);
  const at: number[] = [];
  let from = 0;
  let shift = 0;
  let left = MAX_COMPARISONS;
  for (const [index, sides] of hunks.entries()) {
    const want = wanted[index] ?? [];
    const last = lines.length - want.length;
    const fits = (place: number) => {
      left -= 1;
      if (place < from || place > last || !staysWhole(sides, place, lines)) return false;
      for (let offset = 0; offset < want.length; offset += 1) {
        left -= 1;
        if (found[place + offset] !== want[offset]) return false;
      }
      return true;
    };
    const { oldIndex } = sides.hunk;
    const guess = oldIndex === undefined ? from : oldIndex + shift;
    const hasNumber = oldIndex !== undefined;
    let choice: readonly number[] = [];
    let place: number | undefined;
    if (hasNumber && (want.length === 0 || sides.hunk.isRecounted)) place = fits(guess) ? guess : undefined;
    else if (hasNumber) place = nearest(guess, from, last, fits, () => left > 0);
    if (place === undefined && (!hasNumber || sides.hunk.isRecounted)) {
      const spend = (count: number) => (left -= count) > 0;
      choice = choices(sides, { from, last, lines, key }, fits, spend);
      if (choice.length === 1 && left > 0) [place] = choice;
    }
    if (place === undefined) return { at, isComplete: false, missedAt: guess, isGivenUp: left <= 0, choice };
    at.push(place);
    if (hasNumber) shift = place - oldIndex;
    from = place + want.length;
  }
  return { at, isComplete: true, missedAt: 0, isGivenUp: false };
}

/** Every place where a hunk fits that does not say where it goes; below the lines that it names, the first after each. */
function choices(
  { hunk, old }: Sides,
  {
    from,
    last,
    lines,
    key,
  }: {
    readonly from: number;
    readonly last: number;
    readonly lines: readonly string[];
    readonly key: (line: string) => string;
  },
  fits: (place: number) => boolean,
  spend: (count: number) => boolean,
): readonly number[] {
  if (hunk.isLast) return fits(last) ? [last] : [];
  const places: number[] = [];
  for (let place = from; old.length > 0 && place <= last && spend(0); place += 1) if (fits(place)) places.push(place);
  if (places.length === 1 || !hunk.below || !spend(hunk.below.length * lines.length)) return places;
  const starts = startsBelow(hunk.below, from, lines, key);
  if (old.length === 0) return starts.filter(fits);
  // Both are in order, so one walk over them is enough.
  const first = new Set<number>();
  let next = 0;
  for (const start of starts) {
    while ((places[next] ?? start) < start) next += 1;
    const place = places[next];
    if (place !== undefined) first.add(place);
  }
  return [...first];
}

/** The lines after each place where these lines stand one below another; of the last of them, every one that there is. */
function startsBelow(
  below: readonly string[],
  from: number,
  lines: readonly string[],
  key: (line: string) => string,
): readonly number[] {
  const isLine = (line: string, text: string) => key(line).trim() === text;
  let starts: readonly number[] = [from];
  for (const [index, text] of below.map(bytesText).entries()) {
    const [start = lines.length] = starts;
    // A class that stands there twice is no place; a method is looked for in the one class that there is.
    if (index > 0 && starts.length !== 1) return [];
    starts = lines.flatMap((line, at) => (at >= start && isLine(line, text) ? [at + 1] : []));
  }
  return starts;
}

/** As lines are compared: a character for each byte. */
const bytesText = (text: string) => byteCharacters(encodeRaw(text));

/** No line gets glued to the next one: what has no newline at its end has to be the end of the file. */
function staysWhole(sides: Sides, place: number, lines: readonly string[]): boolean {
  const end = place + sides.old.length;
  const before = place === 0 ? '\n' : (lines[place - 1] ?? '\n');
  const last = sides.new.at(-1) ?? '\n';
  return (last.endsWith('\n') || end === lines.length) && (before.endsWith('\n') || sides.new.length === 0);
}

/** The place nearest to a guess that fits; of two as near, the later one. */
function nearest(
  guess: number,
  first: number,
  last: number,
  fits: (place: number) => boolean,
  mayGoOn: () => boolean,
): number | undefined {
  if (fits(guess)) return guess;
  const most = Math.max(last - guess, guess - first);
  for (let distance = Math.max(1, first - guess, guess - last); distance <= most && mayGoOn(); distance += 1) {
    if (fits(guess + distance)) return guess + distance;
    if (fits(guess - distance)) return guess - distance;
  }
  return undefined;
}

/** Whether every hunk's new side stands exactly at its place; of one without numbers, in one place alone. */
function isThere(hunks: readonly Sides[], lines: readonly string[]): boolean {
  // No line at all is everywhere; it says something only about a file without lines.
  if (hunks.some((hunk) => hunk.new.length === 0))
    return lines.length === 0 && hunks.every((hunk) => hunk.new.length === 0);
  const isAt = (side: readonly string[], at: number) => side.every((line, index) => line === lines[at + index]);
  if (hunks.every(({ hunk, new: side }) => hunk.newIndex !== undefined && isAt(side, hunk.newIndex))) return true;
  if (!hunks.some(({ hunk }) => hunk.newIndex === undefined || hunk.isRecounted)) return false;
  const after = hunks.map(({ hunk, old, new: side }) => ({ hunk: afterwards(hunk), old: side, new: old }));
  const places = placesOf(after, lines);
  const isExact = ({ hunk }: Sides, at: number | undefined) =>
    hunk.newIndex === undefined || hunk.isRecounted === true || hunk.newIndex === at;
  return places.isComplete && hunks.every((hunk, index) => isExact(hunk, places.at[index]));
}

/** As a hunk that looks for its new side. */
function afterwards({ newIndex, isRecounted, below, isLast, lines }: PatchHunk): PatchHunk {
  return {
    ...(newIndex !== undefined && { oldIndex: newIndex }),
    ...(isRecounted !== undefined && { isRecounted }),
    ...(below && { below }),
    ...(isLast !== undefined && { isLast }),
    lines,
  };
}

function spliced(current: Uint8Array, lines: readonly string[], hunks: readonly Sides[], at: readonly number[]) {
  const parts: Uint8Array[] = [];
  let line = 0;
  let byte = 0;
  const skipTo = (end: number) => {
    const start = byte;
    for (; line < end; line += 1) byte += lines[line]?.length ?? 0;
    return current.subarray(start, byte);
  };
  for (const [index, sides] of hunks.entries()) {
    const place = at[index] ?? 0;
    parts.push(skipTo(place));
    skipTo(place + sides.old.length);
    parts.push(bytesOfCharacters(sides.new.join('')));
  }
  parts.push(skipTo(lines.length));
  return joinBytes(parts);
}

/** What stands where the first hunk that was not found should be. */
function whyNot(hunks: readonly Sides[], places: Places, lines: readonly string[]): string {
  const index = places.at.length;
  const sides = hunks[index];
  const at = `hunk ${index + 1} at line ${places.missedAt + 1}`;
  if (sides === undefined || places.isGivenUp) return `${at}: too many places are alike to look at all of them`;
  const isAnywhere = sides.hunk.oldIndex === undefined;
  const { choice = [] } = places;
  if (choice.length > 1) {
    const found = numbersText(
      'line',
      choice.map((place) => place + 1),
    );
    const why = isAnywhere ? 'without numbers' : 'with wrong counts';
    return `hunk ${index + 1} ${why} fits in ${choice.length} places, at ${found}; give it more lines of context`;
  }
  const where = isAnywhere ? `hunk ${index + 1} without numbers` : at;
  const withoutReturn = (line: string) => line.replace(/\r\n$/, '\n');
  const loosely = placesOf(hunks.slice(0, index + 1), lines, withoutReturn);
  const place = loosely.isComplete ? loosely.at.at(-1) : undefined;
  if (place !== undefined) {
    const file = lineEnds(lines.slice(place, place + sides.old.length));
    const patch = lineEnds(sides.old);
    if (file !== patch)
      return `hunk ${index + 1} at line ${place + 1}: line endings differ: file ${file}, patch ${patch}`;
  }
  if (isAnywhere) {
    const there = new Set(lines);
    const missing = sides.old.find((line) => !there.has(line));
    return missing === undefined
      ? `${where}: its lines do not stand together ${sides.hunk.below ? 'below the lines that it names' : 'in this order'}`
      : `${where}: no line is ${readable(missing)}`;
  }
  for (const [offset, expected] of sides.old.entries()) {
    const line = places.missedAt + offset;
    const found = lines[line];
    if (found === expected) continue;
    const differs = `${where}: line ${line + 1} should be ${readable(expected)}`;
    if (found === undefined) return `${differs}, but the file has ${lines.length} lines`;
    if (`${found}\n` === expected) return `${differs}, but has no newline at its end`;
    if (found === `${expected}\n`) return `${differs} without a newline at its end, but has one`;
    const mark = line === 0 && found.startsWith('\u00ef\u00bb\u00bf') ? ' (it starts with a byte order mark)' : '';
    return `${differs}, but is ${readable(found)}${mark}`;
  }
  return `${where}: it overlaps with the hunk before it, or does not end where the file ends`;
}

function lineEnds(lines: readonly string[]): string {
  const returns = lines.filter((line) => line.endsWith('\r\n')).length;
  return returns === 0 ? 'LF' : returns === lines.length ? 'CRLF' : 'mixed';
}

const readable = (line: string) => shown(decodeRaw(bytesOfCharacters(line.slice(0, 400).replace(/\n$/, ''))));
