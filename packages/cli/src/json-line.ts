/** Characters that JSON lets through as they are, and that a terminal obeys or hides: C1 controls, direction and invisible ones. */
const UNSEEN = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A JSON document on one line, harmless on a terminal and the same to every parser. */
export function jsonLine(value: unknown): string {
  const text = JSON.stringify(value).replace(
    UNSEEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${text}\n`;
}
