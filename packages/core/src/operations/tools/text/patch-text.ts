/** The start of a diff as a model reads it: bytes that are no UTF-8 become U+FFFD. */
export async function patchText(
  patch: AsyncIterable<Uint8Array>,
  maxCharacters: number,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let text = '';
  for await (const bytes of patch) {
    text += decoder.decode(bytes, { stream: true }); // a character may lie in two chunks
    if (text.length > maxCharacters) return { text: text.slice(0, maxCharacters).toWellFormed(), isCut: true };
  }
  return { text: text + decoder.decode(), isCut: false };
}
