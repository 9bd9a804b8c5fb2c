/** Milliseconds as seconds, rounded up and at least 1, for programs that know no parts of a second. */
export const wholeSeconds = (durationMs: number): number => Math.max(1, Math.ceil(durationMs / 1000));
