import type { NamedPath, SettledFile } from '../answers.ts';

/** Conflicts of one sandbox that a person has settled. They last until somebody looks again: a decision alone carries them out. */
export class Settled {
  readonly #files = new Map<string, SettledFile>();

  set(file: SettledFile): void {
    this.#files.set(file.path, file);
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  clear(): void {
    this.#files.clear();
  }

  /** Those of the files that conflict. */
  of(conflicts: readonly NamedPath[]): readonly SettledFile[] {
    return conflicts.flatMap(({ path }) => this.#files.get(path) ?? []);
  }
}
