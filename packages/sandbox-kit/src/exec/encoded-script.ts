import { encodeRaw } from '@litterbox/core/provider';

/** Safe between single quotes of every login shell, fish and csh included, and between double quotes of `sh` inside those. */
const PLAIN = /^[A-Za-z0-9 _./:=@,;|&()<>{}[\]*?#~^+-]$/;

/**
 * A script as one word of an `sh` that gives its text. The word has no newline, no single quote and no character that a login shell reads in its
 * own way, so it can stand in a line of stdin as well as between single quotes of a command line.
 *
 * @param script shell text; raw bytes as in `domain/text/raw-text.ts`. Newlines at its end are lost.
 */
export function encodedScript(script: string): string {
  let format = '';
  for (const byte of encodeRaw(script)) {
    const character = String.fromCharCode(byte);
    const isPlain = PLAIN.test(character) && (format !== '' || character !== '-'); // printf would take it for an option
    format += isPlain ? character : `\\${byte.toString(8).padStart(3, '0')}`;
  }
  return `"$(printf "${format}")"`;
}
