/** As many as a call takes as arguments without filling the stack. */
const PART = 8192;

/** A character from U+0000 to U+00FF for each byte: exact whatever the encoding, as `btoa` takes it, and as quick to compare as text. */
export function byteCharacters(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += PART)
    text += String.fromCharCode(...bytes.subarray(start, start + PART));
  return text;
}

/** The inverse of {@link byteCharacters}. */
export function bytesOfCharacters(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}
