/** As a shell tells of a program that SIGPIPE ended: what was left to do is not done. */
const READER_GONE = 141;

/**
 * Ends the program when nobody reads its output any more.
 *
 * @param onUnwritten called when the output cannot be written for another reason
 */
export function endWithOutput(onUnwritten: (error: NodeJS.ErrnoException) => void): void {
  const isGone = (error: NodeJS.ErrnoException) => error.code === 'EPIPE';
  process.stderr.on('error', (error) => process.exit(isGone(error) ? READER_GONE : 70));
  process.stdout.on('error', (error) => (isGone(error) ? process.exit(READER_GONE) : onUnwritten(error)));
}
