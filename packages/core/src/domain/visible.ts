/** Control characters, bidirectional controls, invisible characters and lone surrogates: what can lie to a person's eye. */
const DECEPTIVE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Hostile text as a person may see it in a terminal: what moves the cursor, changes colours, hides or reorders text becomes a
 * visible escape. Tabs and newlines stay.
 */
export function visible(text: string): string {
  return text.replace(DECEPTIVE, (character) => {
    const code = character.charCodeAt(0);
    if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`; // a byte that is not UTF-8
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
