/** Says that something was passed over, so that nobody takes what is hidden for missing; empty when nothing was. */
export function hiddenLines(hidden: number): readonly string[] {
  return hidden === 0 ? [] : [`[${hidden} hidden ${hidden === 1 ? 'name' : 'names'} left out]`];
}
