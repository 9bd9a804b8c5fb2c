import type { FilePart, PatchFile, PatchHunk } from '../answers.ts';
import { changesOf } from '../diff/changes-of.ts';

/** Boxes that a person has ticked: whole files, and changes of others. It is not changed, but replaced. */
export class Taken {
  readonly #files: ReadonlySet<string>;
  /** Numbers of changes, by path: however the hunks are cut. */
  readonly #changes: ReadonlyMap<string, ReadonlySet<number>>;

  constructor(files: Iterable<string> = [], changes: Iterable<readonly [string, ReadonlySet<number>]> = []) {
    this.#files = new Set(files);
    this.#changes = new Map(changes);
  }

  /** Files of which something is taken. */
  get size(): number {
    return this.#files.size + this.#changes.size;
  }

  /** Files that are taken whole. */
  get whole(): number {
    return this.#files.size;
  }

  /** Whole files. One that was renamed is taken under both of its names, or it would be there twice. @param files those that are shown */
  paths(files: readonly PatchFile[]): readonly string[] {
    const taken = files.filter(({ path }) => this.#files.has(path));
    return taken.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path]));
  }

  /** `some` where changes of it are taken. */
  of(path: string): 'all' | 'some' | 'none' {
    return this.#files.has(path) ? 'all' : this.#changes.has(path) ? 'some' : 'none';
  }

  hasHunk(path: string, hunk: PatchHunk): boolean {
    return this.#files.has(path) || changesOf(hunk).every((change) => this.#changes.get(path)?.has(change));
  }

  /** All of these files, whole. */
  static all(files: readonly PatchFile[]): Taken {
    return new Taken(files.map(({ path }) => path));
  }

  withFile(path: string, isTaken: boolean): Taken {
    const files = new Set(this.#files);
    const changes = new Map(this.#changes);
    changes.delete(path);
    if (isTaken) files.add(path);
    else files.delete(path);
    return new Taken(files, changes);
  }

  withHunk({ path, hunks }: PatchFile, hunk: PatchHunk, isTaken: boolean): Taken {
    const all = hunks.flatMap(changesOf);
    const some = new Set(this.#files.has(path) ? all : this.#changes.get(path));
    for (const change of changesOf(hunk))
      if (isTaken) some.add(change);
      else some.delete(change);
    const none = this.withFile(path, false);
    if (some.size === all.length) return none.withFile(path, true);
    return some.size === 0 ? none : new Taken(none.#files, [...none.#changes, [path, some]]);
  }

  /** @param files those that are shown, with their digests */
  parts(files: readonly PatchFile[]): readonly FilePart[] {
    return files.flatMap(({ path, digest }) => {
      const taken = this.#changes.get(path);
      return taken && digest !== undefined ? [{ path, digest, changes: [...taken].toSorted((a, b) => a - b) }] : [];
    });
  }
}
