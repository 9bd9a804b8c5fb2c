import { LitterboxError, type LitterboxErrorCode } from '../errors/errors.ts';
import { numbersText } from '../text/numbers-text.ts';
import { encodeRaw } from '../text/raw-text.ts';
import { shown } from '../text/shown.ts';

/** Places that an answer names; a model needs a few to tell them apart. */
const MAX_NAMED = 10;
const NEWLINE = 10;
const RETURN = 13;

/** A piece of text that takes the place of another one in a file. */
export interface TextReplacement {
  /** What answers call the file. */
  readonly path: string;
  readonly old: string;
  readonly new: string;
  /** Wherever the old text stands; otherwise it has to stand in one place alone. */
  readonly isEverywhere: boolean;
  /** Of what the file becomes. */
  readonly maxBytes: number;
}

export interface ReplacedText {
  readonly content: Uint8Array;
  readonly places: number;
  /** The lines, from 1, in which the first places begin. */
  readonly lines: readonly number[];
  /** The file's line ends, when the texts had others and were taken with these. */
  readonly lineEnds?: 'CRLF' | 'LF';
}

/**
 * What a file becomes when a text in it is replaced. It has to stand there exactly; bytes around it stay as they are, whatever they
 * are. Texts whose lines all end otherwise than the file's are taken with the file's line ends.
 *
 * @throws LitterboxError `EDIT_EMPTY`, `EDIT_NOT_FOUND`, `EDIT_AMBIGUOUS`, `FILE_TOO_LARGE`.
 */
export function replaceText(replacement: TextReplacement, current: Uint8Array): ReplacedText {
  assertReplaces(replacement);
  const refuse = refusalOf(replacement.path);
  const { isEverywhere, maxBytes } = replacement;
  const { wanted, fresh, lineEnds } = asInFile(replacement, current);
  const { places, first } = counted(placesOf(wanted, current, isEverywhere));
  if (places === 0) throw refuse('EDIT_NOT_FOUND', ...whyNotFound(replacement, current));
  const lines = linesAt(current, first);
  if (places > 1 && !isEverywhere)
    throw refuse(
      'EDIT_AMBIGUOUS',
      `the old text stands there ${places} times, at ${numbersText('line', lines, places)}`,
      'Give more of the lines around it so that it is one place alone, or all: true to replace it everywhere.',
    );
  const bytes = current.length + places * (fresh.length - wanted.length);
  if (bytes > maxBytes)
    throw refuse('FILE_TOO_LARGE', `the file would be larger than ${maxBytes} bytes`, 'Replace less of it.');
  return {
    content: spliced(current, placesOf(wanted, current, isEverywhere), wanted.length, fresh, bytes),
    places,
    lines,
    ...(lineEnds && { lineEnds }),
  };
}

/** Refuses what no file can be changed by. @throws LitterboxError `EDIT_EMPTY`. */
export function assertReplaces({ path, old, new: fresh }: Pick<TextReplacement, 'path' | 'old' | 'new'>): void {
  const refuse = refusalOf(path);
  if (old === '')
    throw refuse('EDIT_EMPTY', 'the old text is empty', 'Give the text to replace; make a new file with write.');
  if (old === fresh)
    throw refuse('EDIT_EMPTY', 'the old text and the new one are the same', 'Give the text that it should become.');
}

type Refuse = (code: LitterboxErrorCode, what: string, hint: string) => LitterboxError;

const refusalOf =
  (path: string): Refuse =>
  (code, what, hint) =>
    new LitterboxError(code, `${shown(path)} is not changed: ${what}.`, { operation: 'sandbox.edit', hint });

interface TextsInFile extends Pick<ReplacedText, 'lineEnds'> {
  readonly wanted: Uint8Array;
  readonly fresh: Uint8Array;
}

/** The texts as bytes, with the line ends that the file has where the old text stands. */
function asInFile({ old, new: fresh }: TextReplacement, current: Uint8Array): TextsInFile {
  const exact = { wanted: encodeRaw(old), fresh: encodeRaw(fresh) };
  if (!old.includes('\n') || isThere(exact.wanted, current)) return exact;
  const lineEnds = old.includes('\r\n') ? ('LF' as const) : ('CRLF' as const);
  const end = lineEnds === 'LF' ? '\n' : '\r\n';
  const wanted = encodeRaw(old.replaceAll(/\r?\n/g, end));
  if (!isThere(wanted, current)) return exact;
  return { wanted, fresh: encodeRaw(fresh.replaceAll(/\r?\n/g, end)), lineEnds };
}

const isThere = (wanted: Uint8Array, bytes: Uint8Array) => !placesOf(wanted, bytes, true).next().done;

/**
 * Where some bytes stand, in time that grows with the sizes alone, however alike the bytes are (Knuth, Morris and Pratt).
 *
 * @param isApart whether a place begins only where the one before it has ended
 */
function* placesOf(wanted: Uint8Array, bytes: Uint8Array, isApart: boolean): Generator<number, void, undefined> {
  const back = new Int32Array(wanted.length);
  for (let index = 1, length = 0; index < wanted.length; index += 1) {
    while (length > 0 && wanted[index] !== wanted[length]) length = back[length - 1] ?? 0;
    if (wanted[index] === wanted[length]) length += 1;
    back[index] = length;
  }
  for (let index = 0, length = 0; index < bytes.length; index += 1) {
    while (length > 0 && bytes[index] !== wanted[length]) length = back[length - 1] ?? 0;
    if (bytes[index] === wanted[length]) length += 1;
    if (length < wanted.length) continue;
    yield index + 1 - length;
    length = isApart ? 0 : (back[length - 1] ?? 0);
  }
}

/** The lines, from 1, in which bytes stand. */
function linesAt(bytes: Uint8Array, places: readonly number[]): readonly number[] {
  let line = 1;
  let at = 0;
  return places.map((place) => {
    for (; at < place; at += 1) if (bytes[at] === NEWLINE) line += 1;
    return line;
  });
}

/** How many places there are, and the first of them: of a single letter there may be millions. */
function counted(all: Iterable<number>): { readonly places: number; readonly first: readonly number[] } {
  const first: number[] = [];
  let places = 0;
  for (const place of all) {
    if (places < MAX_NAMED) first.push(place);
    places += 1;
  }
  return { places, first };
}

function spliced(current: Uint8Array, places: Iterable<number>, length: number, fresh: Uint8Array, bytes: number) {
  const content = new Uint8Array(bytes);
  let from = 0;
  let to = 0;
  const put = (part: Uint8Array) => {
    content.set(part, to);
    to += part.length;
  };
  for (const place of places) {
    put(current.subarray(from, place));
    put(fresh);
    from = place + length;
  }
  put(current.subarray(from));
  return content;
}

/** What the file has instead, without a word of what it holds. */
function whyNotFound({ old, new: fresh }: TextReplacement, current: Uint8Array): readonly [what: string, hint: string] {
  const again = 'Read the file again, and give the old text as it stands there, without numbers of lines.';
  const [done] = fresh.trim() === '' ? [] : [...placesOf(encodeRaw(fresh), current, true)];
  if (done !== undefined)
    return [
      `the old text does not stand there, but the new one does, at ${numbersText('line', linesAt(current, [done]))}`,
      'It may have been changed before: read the file.',
    ];
  const loosely = placesOf(withoutSpaces(encodeRaw(old)).bytes, withoutSpaces(current).bytes, true).next();
  if (loosely.done || old.trim() === '') return ['the old text does not stand there', again];
  const place = withoutSpaces(current).at[loosely.value] ?? 0;
  const line = numbersText('line', linesAt(current, [place]));
  return [`the old text does not stand there, but at ${line} does one that differs in white space alone`, again];
}

/** Bytes without white space of ASCII, and where each of them stood. */
function withoutSpaces(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly at: Uint32Array } {
  const isSpace = (byte: number) => byte === 32 || byte === 9 || byte === NEWLINE || byte === RETURN;
  const kept = new Uint8Array(bytes.length);
  const at = new Uint32Array(bytes.length);
  let count = 0;
  for (const [index, byte] of bytes.entries()) {
    if (isSpace(byte)) continue;
    kept[count] = byte;
    at[count] = index;
    count += 1;
  }
  return { bytes: kept.subarray(0, count), at: at.subarray(0, count) };
}
