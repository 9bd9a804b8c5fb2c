import type { FilePart, PatchFile } from './answers.ts';
import { signOf } from './diff/diff-rows.ts';

/** Boxes that a person has ticked: whole files, and hunks of others. It is not changed, but replaced. */
export class Taken {
  readonly #files: ReadonlySet<string>;
  /** Places of hunks, by path. */
  readonly #hunks: ReadonlyMap<string, ReadonlySet<number>>;

  constructor(files: Iterable<string> = [], hunks: Iterable<readonly [string, ReadonlySet<number>]> = []) {
    this.#files = new Set(files);
    this.#hunks = new Map(hunks);
  }

  /** Files of which something is taken. */
  get size(): number {
    return this.#files.size + this.#hunks.size;
  }

  /** Whole files. One that was renamed is taken under both of its names, or it would be there twice. @param files those that are shown */
  paths(files: readonly PatchFile[]): readonly string[] {
    const taken = files.filter(({ path }) => this.#files.has(path));
    return taken.flatMap(({ path, from }) => (from === undefined ? [path] : [from, path]));
  }

  /** `some` where hunks of it are taken. */
  of(path: string): 'all' | 'some' | 'none' {
    return this.#files.has(path) ? 'all' : this.#hunks.has(path) ? 'some' : 'none';
  }

  hasHunk(path: string, hunk: number): boolean {
    return this.#files.has(path) || this.#hunks.get(path)?.has(hunk) === true;
  }

  withFile(path: string, isTaken: boolean): Taken {
    const files = new Set(this.#files);
    const hunks = new Map(this.#hunks);
    hunks.delete(path);
    if (isTaken) files.add(path);
    else files.delete(path);
    return new Taken(files, hunks);
  }

  withHunk({ path, hunks }: PatchFile, hunk: number, isTaken: boolean): Taken {
    const places = hunks.map((_, at) => at);
    const some = new Set(places.filter((at) => (at === hunk ? isTaken : this.hasHunk(path, at))));
    const none = this.withFile(path, false);
    if (some.size === hunks.length) return none.withFile(path, true);
    return some.size === 0 ? none : new Taken(none.#files, [...none.#hunks, [path, some]]);
  }

  /** @param files those that are shown, with their digests */
  parts(files: readonly PatchFile[]): readonly FilePart[] {
    return files.flatMap(({ path, digest, hunks }) => {
      const taken = this.#hunks.get(path);
      if (!taken || digest === undefined) return [];
      const changes = [...taken].flatMap((at) => changesOf(hunks[at]));
      return { path, digest, changes };
    });
  }
}

function changesOf(hunk: PatchFile['hunks'][number] | undefined): number[] {
  const changes: number[] = [];
  let isInside = false;
  for (const line of hunk?.lines ?? []) {
    const sign = signOf(line);
    const isSign: boolean = sign === '+' || sign === '-' || (sign === '\\' && isInside);
    if (isSign && !isInside) changes.push((hunk?.firstChange ?? 0) + changes.length);
    isInside = isSign;
  }
  return changes;
}
