import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurable } from '../git/durable-files.ts';
import type { Store } from '../store/store.ts';

/** More paths of one conflict are not kept: it is tried again. */
const MAX_PATHS = 200;

interface Kept {
  readonly version: 1;
  readonly key: string;
  readonly conflicts: Readonly<Record<string, readonly string[]>>;
}

/** Conflicts that were found for states of sandboxes and of HEAD. It goes with HEAD; what a forecast does not ask for goes with the next one. */
export class ForecastCache {
  readonly #path: string;
  readonly #key: string;
  readonly #known: ReadonlyMap<string, readonly string[]>;
  readonly #used = new Map<string, readonly string[]>();
  #isNew = false;

  private constructor(path: string, key: string, known: ReadonlyMap<string, readonly string[]>) {
    this.#path = path;
    this.#key = key;
    this.#known = known;
  }

  /** @param key HEAD, and what else decides how everything merges; a file that cannot be read is none */
  static async open(store: Store, key: string): Promise<ForecastCache> {
    const path = join(store.directory, 'forecast.json');
    const text = await readFile(path, 'utf8').catch(() => '');
    let kept: Partial<Kept> = {};
    try {
      kept = (JSON.parse(text) ?? {}) as Partial<Kept>;
    } catch {
      // Written by nobody yet, or damaged: it is found again.
    }
    const isSame = kept.version === 1 && kept.key === key && typeof kept.conflicts === 'object';
    return new ForecastCache(path, key, new Map(isSame ? Object.entries(kept.conflicts ?? {}) : []));
  }

  get(name: string): readonly string[] | undefined {
    const known = this.#used.get(name) ?? this.#known.get(name);
    if (known) this.#used.set(name, known);
    return known;
  }

  set(name: string, paths: readonly string[]): void {
    if (paths.length > MAX_PATHS) return;
    this.#used.set(name, paths);
    this.#isNew = true;
  }

  async save(): Promise<void> {
    if (!this.#isNew) return;
    const kept: Kept = { version: 1, key: this.#key, conflicts: Object.fromEntries(this.#used) };
    await writeDurable(this.#path, JSON.stringify(kept));
  }
}
