import { quoted } from '@litterbox/core/provider';

/** A FIFO in the sandbox's directory. While a sandbox is nobody's, what ends its session with the last client waits for a word here first. */
export const HOLD = 'hold.fifo';

/** Shell text: the session of the sandbox in that directory ends with its last client from now on. Nothing where it does anyway. */
export function letGoScript(directory: string): string {
  const hold = quoted(`${directory}/${HOLD}`);
  // Opened for both ends: without a reader it blocks nobody.
  return `if [ -p ${hold} ]; then echo go 1<>${hold}; fi`;
}
