import { joinBytes } from '../text/join-bytes.ts';
import { sha256 } from '../text/sha256.ts';

const [BLANK, BACKSLASH, NEWLINE] = [32, 92, 10];

/**
 * The changes of one file as a diff shows them: runs of added and removed lines, counted from 0. The digest tells them from any others by
 * their lines and their order; where they stand does not count, so that lines above that others added do not matter.
 */
export class SeenChanges {
  readonly #parts: Uint8Array[] = [];
  #isInside = false;
  #count = 0;

  /** How many began so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * @param line of a hunk, with its sign and without its newline
   * @returns whether it belongs to a change
   */
  add(line: Uint8Array): boolean {
    const [sign = BLANK] = line;
    if (sign === BLANK || (sign === BACKSLASH && !this.#isInside)) {
      this.end();
      return false;
    }
    if (!this.#isInside) this.#count++;
    this.#isInside = true;
    this.#parts.push(line, Uint8Array.of(NEWLINE));
    return true;
  }

  /** At the end of a hunk: the next one begins another change. */
  end(): void {
    if (this.#isInside) this.#parts.push(Uint8Array.of(BLANK, NEWLINE)); // no line of a change begins with a blank
    this.#isInside = false;
  }

  /** 64 hexadecimal digits. */
  async digest(): Promise<string> {
    this.end();
    return await sha256(new Uint8Array(joinBytes(this.#parts)));
  }
}
