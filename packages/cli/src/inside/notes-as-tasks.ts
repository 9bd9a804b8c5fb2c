import { type AgentRun, assertPrompt } from '@litterbox/agents';
import { giveNotes, listNotes, returnNotes, type ReviewNote, visible, visibleName } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';
import type { Context } from '../context.ts';

/** Characters of notes that one task has: a prompt holds them with our words. */
const MAX_CHARACTERS = 48_000;

/** @throws LitterboxError as of an empty prompt, where no note waits; `SANDBOX_NOT_FOUND` */
export async function assertNotes(litterbox: Performer, sandbox: string, signal: AbortSignal): Promise<void> {
  const { notes } = await litterbox.perform(listNotes, { sandbox }, { signal });
  if (notes.every(({ given }) => given !== undefined)) assertPrompt('');
}

/** Notes of a person on lines as tasks of an agent. */
export class NotesAsTasks {
  readonly #context: Context;
  readonly #litterbox: Performer;
  readonly #of: { readonly sandbox: string; readonly agent: string };
  #given: readonly ReviewNote[] = [];

  constructor(context: Context, litterbox: Performer, of: { readonly sandbox: string; readonly agent: string }) {
    this.#context = context;
    this.#litterbox = litterbox;
    this.#of = of;
  }

  /** Those that wait; undefined where there are none. */
  async next(): Promise<string | undefined> {
    const { talk, signal } = this.#context;
    this.#given = await this.#litterbox.perform(giveNotes, { ...this.#of, most: MAX_CHARACTERS }, { signal });
    const { length } = this.#given;
    if (length === 0) return undefined;
    talk.notice(`Its task: ${length === 1 ? 'a note' : `${length} notes`} of yours on lines of ${this.#of.sandbox}.`);
    return promptOf(this.#given);
  }

  /** Those that were given last wait again. */
  async takeBack(): Promise<void> {
    if (this.#given.length === 0) return;
    const notes = this.#given.map(({ note }) => note);
    await this.#litterbox.perform(returnNotes, { sandbox: this.#of.sandbox, notes });
  }
}

/** Names of files are an agent's words. */
function promptOf(notes: readonly ReviewNote[]): string {
  const begin = 'The person who reviews your work left notes on lines of it. Do what each of them asks.';
  const paragraphs = notes.map(
    ({ path, line, revision, text, words }) =>
      `${visibleName(path)}, line ${line} as of revision ${revision}${text === undefined ? '' : `, ${JSON.stringify(visible(text))}`}:\n${words}`,
  );
  return [begin, ...paragraphs].join('\n\n');
}

/**
 * One task after the other: notes that came meanwhile are the next one. An agent that fails or is ended gets none, and those with which it
 * could not begin wait again.
 *
 * @param prompt empty where the notes are the first task too
 */
export async function runTasks(
  prompt: string,
  notes: NotesAsTasks,
  work: (task: string) => Promise<AgentRun>,
): Promise<AgentRun> {
  let all: AgentRun | undefined;
  try {
    for (let task = prompt === '' ? await notes.next() : prompt; task !== undefined; ) {
      const ran = await work(task);
      all = all ? added(all, ran) : ran;
      const isDone = ran.exitCode === 0 && (ran.endedBy === 'itself' || ran.endedBy === 'after-end');
      task = isDone ? await notes.next() : undefined;
    }
  } catch (error) {
    await notes.takeBack();
    throw error;
  }
  return all ?? (await work(prompt)); // which refuses to have none
}

/** Both runs as one that ended as the later did. */
function added(before: AgentRun, ran: AgentRun): AgentRun {
  const [first, last] = [before.tokens, ran.tokens];
  const tokens =
    first && last ? { input: first.input + last.input, output: first.output + last.output } : (last ?? first);
  const hints = [...before.hints, ...ran.hints];
  return { ...ran, durationMs: before.durationMs + ran.durationMs, ...(tokens && { tokens }), hints };
}
