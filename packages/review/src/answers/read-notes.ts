import { listNotes, type NotesOfSandbox, removeNotes, visible, visibleName, writeNote } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

/** Words on a line, as the page sends them; the operation checks them. */
export interface SentNote {
  readonly path: string;
  readonly line: number;
  readonly words: string;
  /** The state that the page shows. */
  readonly tip: string;
}

export const readNotes = async (litterbox: Performer, sandbox: string, signal: AbortSignal) =>
  shownNotes(await litterbox.perform(listNotes, { sandbox }, { signal }));

export async function addNote(litterbox: Performer, sandbox: string, sent: SentNote, signal: AbortSignal) {
  const { path, line, words, tip: revision } = sent;
  return shownNotes(await litterbox.perform(writeNote, { sandbox, path, line, words, revision }, { signal }));
}

export const dropNote = async (litterbox: Performer, sandbox: string, note: number, signal: AbortSignal) =>
  shownNotes(await litterbox.perform(removeNotes, { sandbox, notes: [note] }, { signal }));

const shownNotes = ({ notes, agent }: NotesOfSandbox) => ({
  agent: agent === undefined ? undefined : visibleName(agent),
  notes: notes.map(({ note, path, line, revision, text, words, given }) => ({
    note,
    name: visibleName(path),
    line,
    revision,
    text: text && visible(text),
    words: visible(words),
    given: given && { ...given, to: visibleName(given.to) },
  })),
});
