/** Programs of our own that no call starts carry this in place of a call. */
const OURS = 'infrastructure';

/** Tells a caller's program from those by which Litterbox looks at a sandbox. */
export function isCallers(call: string | undefined): boolean {
  return call !== undefined && call !== OURS;
}
