const PROGRESS =
  /^(?:Cloning into |remote: (?:Enumerating|Counting|Compressing|Total) |(?:Receiving|Resolving) [a-z]+: )/;

/** What git wrote on standard error, without the lines that tell how far it is: a reason of failure is left. */
export const withoutProgress = (stderr: string): string =>
  stderr
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '' && !PROGRESS.test(line))
    .join('\n');
