/** Names, some with `*`, which stands for any characters. */
export class NameSet {
  readonly #exact: ReadonlySet<string>;
  readonly #pattern: RegExp | undefined;

  constructor(words: readonly string[]) {
    this.#exact = new Set(words.filter((word) => !word.includes('*')));
    const patterns = words.filter((word) => word.includes('*')).map((word) => word.split('*').map(escaped).join('.*'));
    this.#pattern = patterns.length > 0 ? new RegExp(`^(?:${patterns.join('|')})$`, 's') : undefined;
  }

  has(name: string): boolean {
    return this.#exact.has(name) || this.#pattern?.test(name) === true;
  }
}

const escaped = (text: string) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
