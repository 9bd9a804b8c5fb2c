/**
 * One character that nobody sees, or that changes how the rest is seen: controls, line and paragraph separators, direction, everything that
 * Unicode lets a font leave out (tags, variation selectors, fillers, joiners), the empty Braille cell, half of a pair. One set for every
 * door. The sign that an emoji comes in colours is none of it behind an emoji.
 */
export const UNSEEN =
  /[\p{Cc}\p{Cs}\u2028\u2029\u2800\ufff9-\ufffb]|(?!\ufe0f)\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})\ufe0f/gu;

/** The character as JSON writes it: `\u202e`, and two of them for one beyond the first plane. */
export function jsonEscape(character: string): string {
  return Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at), 4)}`).join('');
}

/** The character as a person reads it: `\n`, `\x1b`, `\u202e`, `\u{e0041}`. Of a byte that is not UTF-8, `\xff`. */
export function escapeOf(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${hex(code - 0xdc00, 2)}`;
  if (code < 0x100) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\u{${hex(code, 5)}}`;
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t' };
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');
