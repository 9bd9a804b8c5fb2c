const [TAB, LF, FF, CR, ESC, BACKSPACE, DELETE, END_OF_FILE] = [9, 10, 12, 13, 27, 8, 127, 26];

export const LINE_ENDS = ['text', 'auto'] as const;
/** How a check-in treats the line ends of a file: `text` by its attributes, or where it looks like text. */
export type LineEnds = (typeof LINE_ENDS)[number];

/**
 * The line ends that git gives a file when it is added. @see https://git-scm.com/docs/gitattributes (text, eol, crlf)
 *
 * @param valueOf of an attribute, as `git check-attr` says it
 */
export function lineEndsOf(valueOf: (attribute: string) => string): LineEnds | undefined {
  const text = valueOf('text') === 'unspecified' ? valueOf('crlf') : valueOf('text');
  if (text === 'auto') return 'auto';
  if (text === 'set' || text === 'input') return 'text';
  const hasEnd = ['lf', 'crlf'].includes(valueOf('eol'));
  return text === 'unspecified' && hasEnd ? 'text' : undefined;
}

/** A file as a check-in of git stores it: each CR LF is LF. Undefined where that is the same. */
export function checkedInLineEnds(bytes: Buffer, ends: LineEnds): Buffer | undefined {
  if (!hasWindowsLineEnds(bytes) || (ends === 'auto' && looksBinary(bytes))) return undefined;
  const kept = Buffer.allocUnsafe(bytes.length);
  let size = 0;
  for (let at = 0; at < bytes.length; at++)
    if (bytes[at] !== CR || bytes[at + 1] !== LF) kept[size++] = bytes[at] as number;
  return kept.subarray(0, size);
}

/** Whether a line of it ends with CR LF. */
export const hasWindowsLineEnds = (bytes: Buffer): boolean => bytes.includes('\r\n');

/** As git judges it (`convert.c`): by a CR alone, a NUL, or more than one control character to 128 others. */
function looksBinary(bytes: Buffer): boolean {
  let [printable, control] = [0, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === 0) return true;
    if (byte === CR) {
      if (bytes[at + 1] !== LF) return true;
      at++;
    } else if (byte === LF) continue;
    else if (byte === DELETE || (byte < 32 && ![BACKSPACE, TAB, ESC, FF].includes(byte))) control++;
    else printable++;
  }
  if (bytes.at(-1) === END_OF_FILE) control--;
  return Math.floor(printable / 128) < control;
}
