/** Longest value, in characters, that an error message repeats (security.md, section 4). */
const MAX_SHOWN_CHARACTERS = 80;

/** A value as an error message may repeat it: escaped, on one line, cut. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  const escaped = text.replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return escaped.length <= MAX_SHOWN_CHARACTERS ? escaped : `${escaped.slice(0, MAX_SHOWN_CHARACTERS - 1)}…`;
}
