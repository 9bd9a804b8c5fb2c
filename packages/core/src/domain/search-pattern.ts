export function searchPattern(pattern: string): { readonly expression: string; readonly ignoreCase: boolean } {
  return { expression: pattern, ignoreCase: false };
}
