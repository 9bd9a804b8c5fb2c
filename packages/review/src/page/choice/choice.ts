import type { PatchFile } from '../answers.ts';
import { Settled } from '../conflict/settled.ts';
import { Taken } from './taken.ts';

/** A person's choice in one sandbox. It is there when they come back from another one, until they apply or merge. */
export class Choice {
  readonly settled = new Settled();
  taken = new Taken();
  #tip: string | undefined;

  /** Boxes were ticked in one state: in another one nothing is. @returns whether some were given up */
  isOfOther(tip: string): boolean {
    const isOther = this.#tip !== undefined && this.#tip !== tip && this.taken.size > 0;
    if (this.#tip !== tip) this.taken = new Taken();
    this.#tip = tip;
    return isOther;
  }

  /** All that an apply is asked for, and whether something is left. @param files those that are shown */
  asked(files: readonly PatchFile[]) {
    const { taken } = this;
    const [paths, parts] = [taken.paths(files), taken.parts(files)];
    return {
      paths,
      parts,
      whole: taken.whole,
      isPart: parts.length > 0 || (paths.length > 0 && taken.whole < files.length),
    };
  }
}
