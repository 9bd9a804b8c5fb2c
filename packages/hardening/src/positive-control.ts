/**
 * Says of a payload that it works where nothing guards against it. Without that, a test in which it does nothing proves nothing.
 *
 * @param seen what the payload achieved without the guard
 */
export function positiveControl<Seen>(what: string, seen: Seen, holds: (seen: Seen) => boolean): Seen {
  if (holds(seen)) return seen;
  throw new Error(
    `Positive control: ${what} does nothing even without the guard, so the test shows nothing; it gave ${JSON.stringify(seen)}.`,
  );
}
