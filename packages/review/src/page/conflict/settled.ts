import type { ConflictFile, NamedPath, SettledFile } from '../answers.ts';
import { ConflictText } from './conflict-text.ts';

/** Conflicts of one sandbox that a person has settled, or begun to. A decision alone carries them out. */
export class Settled {
  readonly #files = new Map<string, SettledFile>();
  /** Texts as they were left, by path, with the digest of their sides. */
  readonly #texts = new Map<string, { readonly digest: string; readonly text: ConflictText }>();

  /** The text of a file in conflict: a dialog that is closed loses none of it. */
  textOf({ path, digest, parts = [] }: ConflictFile): ConflictText {
    const known = this.#texts.get(path);
    if (known?.digest === digest) return known.text;
    const text = new ConflictText(parts);
    this.#texts.set(path, { digest, text });
    return text;
  }

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
