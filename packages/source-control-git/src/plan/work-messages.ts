import { type ObjectId, type Slug } from '@litterbox/core/provider';
import { parseMessage } from '../objects/commit-object.ts';
import { withoutReviewNote } from '../publish/review-note.ts';
import type { Store } from '../store/store.ts';
import type { UntakenWork } from '../publish/untaken-work.ts';
import { withoutDirectives } from './without-directives.ts';

/** Subjects that a message lists; of more it tells the number. */
const MAX_SUBJECTS = 20;
/** Revisions that are looked at for their subjects: a message is no reason to read a long history. */
const MAX_READ = 1000;

/**
 * The words of one commit that a person takes: of a milestone its own, of a single revision its subject, otherwise that these are the
 * changes of the sandbox. What was done is listed below, one line each, where that is more than one thing.
 */
export class WorkMessages {
  readonly #slug: Slug;
  readonly #work: UntakenWork;
  readonly #milestones: ReadonlyMap<ObjectId, string>;
  /** Subjects by number of revision. Absent for those that lie further back than is read. */
  readonly #subjects: ReadonlyMap<number, string>;

  private constructor(
    slug: Slug,
    work: UntakenWork,
    milestones: ReadonlyMap<ObjectId, string>,
    subjects: ReadonlyMap<number, string>,
  ) {
    this.#slug = slug;
    this.#work = work;
    this.#milestones = milestones;
    this.#subjects = subjects;
  }

  static async read(store: Store, slug: Slug, work: UntakenWork, tip: ObjectId): Promise<WorkMessages> {
    const milestones = new Map<ObjectId, string>();
    for (const { milestone } of work.steps)
      if (milestone !== undefined)
        milestones.set(milestone, withoutReviewNote((await store.reader.commit(milestone)).message));
    const subjects = new Map<number, string>();
    let commit: ObjectId | undefined = tip;
    while (commit !== undefined && subjects.size < MAX_READ) {
      const { revision, parents, message } = await store.reader.commit(commit);
      if (!revision || revision.number <= work.ontoNumber) break;
      subjects.set(revision.number, parseMessage(message, revision.trailers).subject);
      commit = parents[0];
    }
    return new WorkMessages(slug, work, milestones, subjects);
  }

  /** Of each step, in order. */
  ofSteps(): readonly string[] {
    let from = this.#work.ontoNumber;
    return this.#work.steps.map(({ milestone, number }) => {
      const done = this.#subjectsOf(from, number);
      const count = number - from;
      from = number;
      const own = milestone === undefined ? undefined : this.#milestones.get(milestone);
      return this.#compose(own, done, count);
    });
  }

  /** Of all steps in one commit. */
  ofAll(): string {
    const [first, ...others] = this.#work.steps;
    if (first && others.length === 0) return this.ofSteps()[0] ?? '';
    const done: string[] = [];
    let from = this.#work.ontoNumber;
    let count = 0;
    for (const { milestone, number } of this.#work.steps) {
      const own = milestone === undefined ? undefined : this.#milestones.get(milestone)?.split('\n')[0];
      done.push(...(own === undefined ? this.#subjectsOf(from, number) : [own]));
      count += own === undefined ? number - from : 1;
      from = number;
    }
    return this.#compose(undefined, done, count);
  }

  #subjectsOf(after: number, upTo: number): readonly string[] {
    const found: string[] = [];
    for (let number = after + 1; number <= upTo && found.length < MAX_SUBJECTS; number += 1) {
      const subject = this.#subjects.get(number);
      if (subject !== undefined) found.push(subject);
    }
    return found;
  }

  #compose(own: string | undefined, done: readonly string[], count: number): string {
    const [only] = done;
    if (own === undefined && count === 1 && only !== undefined) return withoutDirectives(only);
    const lines = done.slice(0, MAX_SUBJECTS).map((subject) => `- ${subject}`);
    if (count > lines.length) lines.push(`- and ${count - lines.length} more`);
    const head = (own ?? `Changes of sandbox '${this.#slug}'`).trimEnd();
    return withoutDirectives(count > 1 ? `${head}\n\n${lines.join('\n')}` : head);
  }
}
