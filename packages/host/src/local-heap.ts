import { setFlagsFromString } from 'node:v8';
import { ALWAYS_LEAN, type Heap } from '@litterbox/core/provider';

/**
 * The young generation stays as large as it is, and the old one is collected when it has grown by a tenth. By default V8 doubles
 * the first up to 128 MB while a large change is recorded, of which a tenth is in use, and lets the other wait for as long.
 */
const LEAN = ['--semi-space-growth-factor=1', '--heap-growing-percent=10'];
/** V8's defaults, as `node --v8-options` tells them: no program can ask what a flag is. */
const USUAL = ['--semi-space-growth-factor=2', '--heap-growing-percent=0'];
/** Who sets any of these has decided for itself. */
const TUNED = /(?:^|\s)--(?:(?:min|max|initial)[-_])?(?:semi[-_]space|heap[-_]growing)/;

let phases = 0;

/** The heap of this process. Flags of V8 are the process's, so all instances count together. */
export function localHeap(words: readonly string[] = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']): Heap {
  if (words.some((word) => TUNED.test(word))) return ALWAYS_LEAN;
  return {
    async lean(work) {
      if (phases++ === 0) setFlags(LEAN);
      try {
        return await work();
      } finally {
        if (--phases === 0) setFlags(USUAL);
      }
    },
  };
}

function setFlags(flags: readonly string[]): void {
  for (const flag of flags) setFlagsFromString(flag);
}
