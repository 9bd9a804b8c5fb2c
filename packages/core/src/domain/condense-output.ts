export function condenseOutput(
  text: string,
  _limits: { readonly maxCharacters: number; readonly maxLineCharacters: number },
): { readonly text: string; readonly isCut: boolean } {
  return { text, isCut: false };
}
