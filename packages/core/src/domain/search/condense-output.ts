export interface CondenseLimits {
  readonly maxCharacters: number;
  readonly maxLineCharacters: number;
}

export interface CondensedOutput {
  /** Not longer than `maxCharacters`, but for the line that says what was left out: {@link MAX_MARKER_CHARACTERS}. */
  readonly text: string;
  /** Something that could be read is not there any more. Runs of equal lines that were folded do not count. */
  readonly isCut: boolean;
}

/** The longest line that says what was left out. */
export const MAX_MARKER_CHARACTERS = 80;

/** So many equal lines after one another are folded. */
const MIN_RUN = 4;

/**
 * Escape sequences of terminals (ECMA-48): CSI, then the strings that OSC, DCS, SOS, PM and APC start, then the short ones;
 * and the control characters but tab, newline and those that move within the line. An unfinished string ends where the line
 * ends. No part looks twice at a character.
 */
const CONTROLS =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?|[\u0000-\u0007\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
/** The sequences that erase within the line become characters that no text has after them. */
const ERASE_TO_END = '\v';
const ERASE_LINE = '\f';

/**
 * Output of a command as a model reads it: what a terminal would show at the end, without escape sequences, with repeated lines
 * folded and the middle left out of lines and texts that are too long. Short text that has none of these stays as it is.
 */
export function condenseOutput(text: string, limits: CondenseLimits): CondensedOutput {
  let isCut = false;
  const lines = text
    .replace(CONTROLS, (sequence) => {
      const erased = /^(?:\u001b\[|\u009b)([02]?)K$/.exec(sequence)?.[1];
      return erased === undefined ? '' : erased === '2' ? ERASE_LINE : ERASE_TO_END;
    })
    .split('\n')
    .map((line) => {
      const seen = overwritten(line);
      if (seen.length <= limits.maxLineCharacters) return seen;
      const short = withoutMiddle(seen, limits.maxLineCharacters);
      isCut ||= short !== seen;
      return short;
    });
  const folded = foldRuns(lines);
  const whole = folded.join('\n');
  if (whole.length <= limits.maxCharacters) return { text: whole, isCut };
  return { text: headAndTail(folded, whole, limits.maxCharacters), isCut: true };
}

/** What a line looks like once carriage returns, backspaces and erasures have done their work. */
function overwritten(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1; // as lines of Windows end
  const ended = line.slice(0, end);
  if (!/[\r\b\v\f]/.test(ended)) return ended;
  const shown: string[] = [];
  let column = 0;
  for (const character of ended) {
    if (character === '\r') column = 0;
    else if (character === '\b') column = Math.max(0, column - 1);
    else if (character === ERASE_TO_END) shown.length = Math.min(shown.length, column);
    else if (character === ERASE_LINE) shown.length = column = 0;
    else shown[column++] = character;
  }
  return shown.join('');
}

function withoutMiddle(line: string, maximum: number): string {
  const head = atCharacter(line, Math.ceil(maximum / 2));
  const tail = atCharacter(line, line.length - Math.floor(maximum / 2));
  const short = `${line.slice(0, head)}[… ${tail - head} characters left out …]${line.slice(tail)}`;
  return short.length < line.length ? short : line;
}

/** The place, or the one before it if it is within a character. */
function atCharacter(text: string, place: number): number {
  const isWithin = /[\udc00-\udfff]/.test(text[place] ?? '') && /[\ud800-\udbff]/.test(text[place - 1] ?? '');
  return isWithin ? place - 1 : place;
}

function foldRuns(lines: readonly string[]): string[] {
  const folded: string[] = [];
  for (let start = 0; start < lines.length; ) {
    const line = lines[start] ?? '';
    let end = start + 1;
    while (end < lines.length && lines[end] === line) end += 1;
    if (end - start < MIN_RUN) for (let index = start; index < end; index += 1) folded.push(line);
    else folded.push(line, `[previous line repeated ${end - start - 1} more times]`);
    start = end;
  }
  return folded;
}

/** A third of what is allowed from the start and two from the end, where the reason of a failure stands; whole lines. */
function headAndTail(lines: readonly string[], whole: string, maximum: number): string {
  let [head, headCharacters] = [0, 0];
  for (; head < lines.length; head += 1) {
    const size = (lines[head] ?? '').length + 1;
    if (headCharacters + size > maximum / 3) break;
    headCharacters += size;
  }
  let [tail, tailCharacters] = [lines.length, 0];
  for (; tail > head; tail -= 1) {
    const size = (lines[tail - 1] ?? '').length + 1;
    if (headCharacters + tailCharacters + size > maximum) break;
    tailCharacters += size;
  }
  // A line that does not fit takes everything with it.
  if (headCharacters + tailCharacters < maximum / 2) return withoutMiddle(whole, maximum);
  const characters = whole.length + 1 - headCharacters - tailCharacters;
  const marker = `[… ${tail - head} lines, ${characters} characters left out …]`;
  return [...lines.slice(0, head), marker, ...lines.slice(tail)].join('\n');
}
