import { jsonEscape, UNSEEN } from './unseen.ts';

/** Longest value, in characters, that an error message repeats (security.md, section 4). */
const MAX_SHOWN_CHARACTERS = 80;

/** A value as an error message may repeat it: escaped, on one line, cut. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  const escaped = text.replace(UNSEEN, jsonEscape);
  return escaped.length <= MAX_SHOWN_CHARACTERS ? escaped : `${escaped.slice(0, MAX_SHOWN_CHARACTERS - 1)}…`;
}
