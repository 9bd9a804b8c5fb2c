/** The memory that this program's own objects take, as far as its engine lets it be steered. */
export interface Heap {
  /**
   * Does the work with little room for garbage: it is collected early, which costs time, instead of when there is much of it. For
   * work that makes far more objects than it keeps. Phases may overlap; the last to end restores what was usual. Rejects as the
   * work does.
   */
  lean<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** For a program that is lean from its start to its end, and for an engine that cannot be steered. */
export const ALWAYS_LEAN: Heap = { lean: (work) => work() };
