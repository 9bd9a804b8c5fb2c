/** A person's words on a line. */
interface Note {
  readonly name: string;
  readonly line: number;
  readonly words: string;
}

/** Notes on lines by sandbox. They live as long as the window, whatever is looked at again. */
const notes = new Map<string, readonly Note[]>();

export const addNote = (sandbox: string, note: Note): void =>
  void notes.set(sandbox, [...(notes.get(sandbox) ?? []), note]);

export const countNotes = (sandbox: string): number => notes.get(sandbox)?.length ?? 0;

/** Text for the agent: a paragraph for each, as `src/login.ts:12: …`. */
export const notesText = (sandbox: string): string =>
  (notes.get(sandbox) ?? []).map(({ name, line, words }) => `${name}:${line}: ${words}`).join('\n\n');
