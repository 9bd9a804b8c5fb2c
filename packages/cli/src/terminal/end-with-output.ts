/** As a shell tells of a program that SIGPIPE ended: what was left to do is not done. */
const READER_GONE = 141;

/**
 * Ends the program when nobody reads its output any more.
 *
 * @param onUnwritten called when the output cannot be written for another reason
 * @param isEnding whether it ends already, by a signal that mostly took the reader too: what is left, such as recording, is done without one
 */
export function endWithOutput(
  onUnwritten: (error: NodeJS.ErrnoException) => void,
  isEnding: () => boolean = () => false,
): void {
  const leave = (error: NodeJS.ErrnoException, otherwise: () => void) => {
    if (isEnding()) return;
    if (error.code === 'EPIPE') process.exit(READER_GONE);
    otherwise();
  };
  process.stderr.on('error', (error) => leave(error, () => process.exit(70)));
  process.stdout.on('error', (error) => leave(error, () => onUnwritten(error)));
}
