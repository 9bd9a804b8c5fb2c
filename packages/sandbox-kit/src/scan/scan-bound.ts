import { LitterboxError, advice, step } from '@litterbox/core/provider';

/** Far more than changes in a sandbox that people work with. */
const MOST_ENTRIES = 2_000_000;
/** Of all of them together, with what is said of each. */
const MOST_CHARACTERS = 512 * 2 ** 20;

/** Counts what a look tells, which is held in memory: a program inside makes files without end, and another machine says what it likes. */
export class ScanBound {
  #entries = 0;
  #characters = 0;

  /** @returns whether there is room for one more */
  take(text: string): boolean {
    this.#entries += 1;
    this.#characters += text.length;
    return this.isKept;
  }

  /** False once there was more than is held. */
  get isKept(): boolean {
    return this.#entries <= MOST_ENTRIES && this.#characters <= MOST_CHARACTERS;
  }
}

/** The error of a look that told more than is held. */
export function tooManyChanges(): LitterboxError {
  return new LitterboxError(
    'SNAPSHOT_FAILED',
    `More than ${MOST_ENTRIES} files and directories have changed, or their paths take more than ${MOST_CHARACTERS / 2 ** 20} MiB.`,
    {
      operation: 'runtime.scan',
      hint: advice`Remove what nobody needs, or put it into the playground: ${step('sandbox-run')} -- rm -r …. All else is there and is recorded then.`,
    },
  );
}
