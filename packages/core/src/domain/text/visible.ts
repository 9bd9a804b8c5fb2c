import { escapeOf, UNSEEN } from './unseen.ts';

/** Longest name that a person is shown. */
export const MAX_NAME_CHARACTERS = 200;
/** Nothing in it but what is printed on every keyboard: no need to look closer. */
const PLAIN = /^[ -~\n\t]*$/;
/** Besides what is unseen: private, unassigned and formatting characters, and blanks that are no space. */
const UNSEEN_IN_NAMES = new RegExp(`${UNSEEN.source}|\\ufe0f|\\p{C}|(?! )\\p{Z}`, 'gu');

/**
 * Hostile text as a person may see it in a terminal: what moves the cursor, changes colours, hides or reorders text becomes a
 * visible escape. Tabs and newlines stay, so this is for text of many lines. What stands on a line of ours is a {@link visibleName}.
 */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNSEEN, (character) =>
    character === '\n' || character === '\t' ? character : escapeOf(character),
  );
}

/**
 * A name of a file, or another text that a person has to take for one: on one line, whatever characters it has, and of a length that can
 * be read. Of one that is too long both ends are shown.
 *
 * @param most in characters; more where a program reads it
 */
export function visibleName(name: string, most = MAX_NAME_CHARACTERS): string {
  const escaped = name.replace(UNSEEN_IN_NAMES, escapeOf);
  if (escaped.length <= most) return escaped;
  const characters = Array.from(escaped);
  if (characters.length <= most) return escaped;
  const half = Math.floor((most - 1) / 2);
  return `${characters.slice(0, half).join('')}…${characters.slice(half - most + 1).join('')}`;
}

/** Words that are kept: on lines, with nothing in them but what is seen. Of controls only the end of a line stays. */
export function visibleWords(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(UNSEEN, (character) => (character === '\n' ? character : escapeOf(character)));
}
