import type { CallOptions } from '../../ports/common/call.ts';
import type { ReviewNote } from '../../ports/state/review-note.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { changeRecord } from '../common/change-record.ts';

interface Needs {
  readonly state: StateStore;
  readonly actor: string;
}

/** Tells agents of a person's notes. They stay until the person takes them away: nobody knows whether an agent read what it was given. */
export class ReadNotes {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Those that were no agent's task yet, for the facts of a sandbox. The person sees who has got them. */
  async give(record: SandboxRecord, options?: CallOptions): Promise<readonly ReviewNote[]> {
    const open = (notes: readonly ReviewNote[]) => notes.filter(({ given }) => given?.isTask !== true);
    return await this.#give(record, open, { to: this.#needs.actor, isTask: false }, options);
  }

  /**
   * Those that nobody was told of, the oldest first, as the next task of an agent.
   *
   * @param most characters of their words and paths together; one is given whatever it has
   */
  async giveTask(
    record: SandboxRecord,
    to: string,
    most: number,
    options?: CallOptions,
  ): Promise<readonly ReviewNote[]> {
    return await this.#give(record, (notes) => fitting(notes, most), { to, isTask: true }, options);
  }

  async #give(
    record: SandboxRecord,
    choose: (notes: readonly ReviewNote[]) => readonly ReviewNote[],
    whom: Pick<NonNullable<ReviewNote['given']>, 'to' | 'isTask'>,
    options?: CallOptions,
  ): Promise<readonly ReviewNote[]> {
    const given = { ...whom, atMs: Date.now() };
    let chosen: readonly ReviewNote[] = [];
    const change = ({ notes = [] }: SandboxRecord) => {
      chosen = choose(notes);
      const isNews = chosen.some((note) => note.given?.to !== given.to || note.given.isTask !== given.isTask);
      return isNews ? { notes: notes.map((note) => (chosen.includes(note) ? { ...note, given } : note)) } : undefined;
    };
    await changeRecord(this.#needs.state, record, change, options);
    return chosen;
  }
}

function fitting(notes: readonly ReviewNote[], most: number): readonly ReviewNote[] {
  const open = notes.filter(({ given }) => given === undefined);
  let characters = 0;
  const end = open.findIndex(({ words, path }) => (characters += words.length + path.length) > most);
  return end < 0 ? open : open.slice(0, Math.max(1, end));
}
