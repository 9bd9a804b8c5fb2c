import { readFileSync } from 'node:fs';
import { writeDurable } from '../git/durable-files.ts';

interface Kept<Answer> {
  readonly version: 2;
  readonly key: string;
  readonly answers: Readonly<Record<string, Answer>>;
}

/** Keeps what git said of things that never change, by their names, in a file. What is not asked for goes with the next time that it is written. */
export class KeptAnswers<Answer> {
  readonly #path: string;
  readonly #key: string;
  readonly #known: ReadonlyMap<string, Answer>;
  readonly #used = new Map<string, Answer>();
  #isNew = false;

  /**
   * @param path of the file; one that cannot be read holds nothing
   * @param key what else decides all answers; with another one nothing is known
   */
  constructor(path: string, key: string) {
    this.#path = path;
    this.#key = key;
    let kept: Partial<Kept<Answer>> = {};
    try {
      kept = (JSON.parse(readFileSync(path, 'utf8')) ?? {}) as Partial<Kept<Answer>>;
    } catch {
      // Written by nobody yet, or damaged: git is asked again.
    }
    const isSame = kept.version === 2 && kept.key === key && typeof kept.answers === 'object';
    this.#known = new Map(isSame ? Object.entries(kept.answers ?? {}) : []);
  }

  get(name: string): Answer | undefined {
    const known = this.#used.get(name) ?? this.#known.get(name);
    if (known !== undefined) this.#used.set(name, known);
    return known;
  }

  set(name: string, answer: Answer): void {
    this.#used.set(name, answer);
    this.#isNew = true;
  }

  async save(): Promise<void> {
    if (!this.#isNew) return;
    const kept: Kept<Answer> = { version: 2, key: this.#key, answers: Object.fromEntries(this.#used) };
    await writeDurable(this.#path, JSON.stringify(kept));
  }
}
