/** Bytes as a person reads them. */
export interface ReadableText {
  readonly text: string;
  /** How many characters stand for bytes that are no text: U+FFFD each. */
  readonly unreadable: number;
}

/** Control characters that text does not have, but for few: more than a tenth of them is no text. */
const CONTROLS = /[\0-\x06\x0e-\x1a\x1c-\x1f]/g;
const MAX_CONTROLS = 0.1;
/** Bytes that are not UTF-8, as accents are in Latin-1. What is in another script or compressed has more. */
const MAX_UNREADABLE = 0.3;

/** Undefined when they are no text. Valid UTF-8 without a NUL stays as it is. */
export function readableText(bytes: Uint8Array): ReadableText | undefined {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const controls = text.match(CONTROLS)?.length ?? 0;
  if (controls > MAX_CONTROLS * text.length) return undefined;
  const shown = text.replaceAll('\0', '\ufffd');
  if (isUtf8(bytes) && shown === text) return { text, unreadable: 0 };
  const unreadable = shown.split('\ufffd').length - 1;
  return unreadable > MAX_UNREADABLE * text.length ? undefined : { text: shown, unreadable };
}

/** A file may hold U+FFFD itself. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
