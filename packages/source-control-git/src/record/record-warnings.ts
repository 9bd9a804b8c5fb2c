import { type RecordWarning } from '@litterbox/core/provider';

/** As many of each type as the port promises. */
const MOST_OF_EACH = 100;

export class RecordWarnings {
  readonly #kept: RecordWarning[] = [];
  readonly #counts = new Map<RecordWarning['type'], number>();
  readonly #seen = new Set<string>();
  #more = 0;

  /** The same warning counts once. */
  add(warning: RecordWarning): void {
    const key = `${warning.type} ${'code' in warning ? warning.code : ''} ${warning.path}`;
    if (this.#seen.has(key)) return;
    const count = this.#counts.get(warning.type) ?? 0;
    this.#counts.set(warning.type, count + 1);
    if (count >= MOST_OF_EACH) this.#more++;
    else {
      this.#seen.add(key);
      this.#kept.push(warning);
    }
  }

  result(): { readonly warnings: readonly RecordWarning[]; readonly moreWarnings: number } {
    return { warnings: this.#kept, moreWarnings: this.#more };
  }
}
