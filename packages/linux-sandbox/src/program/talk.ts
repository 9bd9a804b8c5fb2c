import {
  advice,
  decodeRaw,
  LitterboxError,
  type OutputChunk,
  type ProcessHandle,
  step,
} from '@litterbox/core/provider';

/** More than the files take that a supervisor prints when it starts, and than the facts of any session. */
const MAX_SAID_CHARACTERS = 8 * 2 ** 20;
const MAX_COMPLAINT_CHARACTERS = 4096;

/** The messages that a program writes to its stdout, one at a time. */
export class Talk {
  readonly #chunks: AsyncIterator<OutputChunk>;
  #text = '';
  #complaint = '';

  constructor(handle: ProcessHandle) {
    this.#chunks = handle[Symbol.asyncIterator]();
  }

  /** The last 4,096 characters that it wrote to stderr so far. */
  get complaint(): string {
    return this.#complaint;
  }

  /**
   * The next message; where the program ends before, what it said up to there.
   *
   * @param lengthOf how many characters of a text are the message; 0 while it is not whole
   * @throws LitterboxError `PROVIDER_PROTOCOL_ERROR` for a message of more than 8 MiB
   */
  async next(lengthOf: (text: string) => number): Promise<{ readonly text: string; readonly isWhole: boolean }> {
    for (;;) {
      const length = lengthOf(this.#text);
      if (length > 0) {
        const text = this.#text.slice(0, length);
        this.#text = this.#text.slice(length);
        return { text, isWhole: true };
      }
      if (this.#text.length > MAX_SAID_CHARACTERS) throw endless();
      const next = await this.#chunks.next();
      if (next.done) {
        const text = this.#text;
        this.#text = '';
        return { text, isWhole: false };
      }
      const output = decodeRaw(next.value.bytes);
      if (next.value.type === 'stderr-data')
        this.#complaint = (this.#complaint + output).slice(-MAX_COMPLAINT_CHARACTERS);
      else this.#text += output;
    }
  }
}

/** A line, with its end. */
export const lineOf = (text: string): number => text.indexOf('\n') + 1;

/** Such a program is not ours, or is a machine that sends what it likes. */
function endless(): LitterboxError {
  return new LitterboxError(
    'PROVIDER_PROTOCOL_ERROR',
    'The watcher of the sandbox sent more output than it can have.',
    {
      operation: 'provider.start',
      hint: advice`Check who runs that machine; on this one, run ${step('machine-check')}.`,
    },
  );
}
