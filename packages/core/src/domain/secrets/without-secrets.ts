import { decodeRaw, encodeRaw } from '../text/raw-text.ts';
import { joinBytes } from '../text/join-bytes.ts';
import { secretTexts } from './secret-files.ts';

/** Each round finds at most some texts of a kind. What still has some after so many is nothing but secrets. */
const MAX_ROUNDS = 16;

const KEY_BLOCK =
  /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----)[\s\S])*(?:-----END [A-Z0-9 ]{1,40}-----)?/g;
const KEY_END = /-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;

/**
 * The same text with a note in place of whatever looks like a secret, as {@link secretTexts} knows them, and of whole private keys. A secret
 * that looks like any other text stays.
 */
export function withoutSecrets(bytes: Uint8Array): Uint8Array {
  let text = new TextDecoder('latin1').decode(bytes); // never more than 0xff: see below
  let isChanged = false;
  const replace = (found: string, holds: string) => {
    if (!text.includes(found)) return false;
    text = text.replaceAll(found, noteOf(holds));
    isChanged = true;
    return true;
  };
  for (const [block] of text.matchAll(KEY_BLOCK)) replace(block, 'private key');
  for (const end of endsOfKeys(text)) replace(end, 'private key');
  for (let round = 0; ; round += 1) {
    const found = secretTexts('env', isChanged ? bytesOf(text) : bytes);
    if (found.length === 0) return isChanged ? bytesOf(text) : bytes;
    const isReplaced = found.map(({ text: secret, holds }) => replace(secret, holds)).includes(true);
    // In another encoding, or without an end: then nothing of it is kept.
    if (!isReplaced || round === MAX_ROUNDS) return joinBytes([bytesOf(noteOf(found[0]?.holds ?? 'secret'))]);
  }
}

/** A variable that a command is given: in a file of settings it would have a line of its own. */
const ASSIGNMENT = /(?<![\w-])[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|[^\s'"]+)/g;

/** The same for a command, or a text about one. */
export function withoutSecretWords(text: string): string {
  const without = (part: string) => {
    const bytes = encodeRaw(part);
    const cleaned = withoutSecrets(bytes);
    return cleaned === bytes ? part : decodeRaw(cleaned);
  };
  return without(text).replace(ASSIGNMENT, without);
}

const noteOf = (holds: string) => `[left out: ${holds}]`;

/** Ends of keys whose beginning was cut off, with the lines above them. */
function endsOfKeys(text: string): readonly string[] {
  return [...text.matchAll(KEY_END)].map(({ 0: end, index }) => {
    let start = index;
    while (start > 0 && /[A-Za-z0-9+/=\s]/.test(text[start - 1] ?? '')) start -= 1;
    return text.slice(start, index) + end;
  });
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => LATIN1.get(character) ?? character.charCodeAt(0));
}

/** `latin1` of the web is windows-1252, in which some bytes are characters beyond 0xff. */
const LATIN1 = new Map(
  Array.from({ length: 256 }, (_none, byte) => [new TextDecoder('latin1').decode(Uint8Array.of(byte)), byte]),
);
