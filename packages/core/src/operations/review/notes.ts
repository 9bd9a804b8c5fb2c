import * as z from 'zod';
import { repositoryPath } from '../../domain/paths/repository-path.ts';
import type { ReviewNote } from '../../ports/state/review-note.ts';
import { type NotesOfSandbox, WriteNotes } from '../../use-cases/review/write-notes.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

const MAX_WORDS = 2_000;
const MAX_PATH = 4_096;
const MAX_LINE = 2 ** 31;

/** A text that an argument of a program can hold. */
const isPlain = (text: string) => text.trim() !== '' && text.isWellFormed() && !text.includes('\0');

const numbers = z.array(z.int().min(1)).min(1).readonly().describe('Numbers of the notes');

/** `sandbox-note`: keep a person's words on a line, for the agent. */
export const writeNote = operation({
  name: 'sandbox-note',
  summary: 'Keep words on a line for the agent, as its next task and in sandbox-status',
  effect: 'write',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    path: z.string().min(1).max(MAX_PATH).describe('A file of the repository'),
    line: z.int().min(1).max(MAX_LINE).describe('From 1, in that revision'),
    words: z.string().max(MAX_WORDS).refine(isPlain, 'words').describe('For the agent'),
    revision: fields.text('revision').describe('The revision that was shown, by number or commit'),
  }),
  execute: async (useCases, { path, ...values }, options): Promise<NotesOfSandbox> =>
    await useCases.get(WriteNotes).write({ ...values, path: repositoryPath(path) }, options),
});

/** `sandbox-notes`: the notes of a sandbox, and who was told of them. */
export const listNotes = operation({
  name: 'sandbox-notes',
  summary: 'List the notes on lines of a sandbox, and who was told of them',
  effect: 'read',
  input: z.strictObject({ sandbox: fields.sandbox() }),
  execute: async (useCases, { sandbox }, options): Promise<NotesOfSandbox> =>
    await useCases.get(WriteNotes).list(sandbox, options),
});

/** `note-remove`: take notes away that are done. */
export const removeNotes = operation({
  name: 'note-remove',
  summary: 'Take notes on lines away',
  effect: 'write',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    notes: numbers,
  }),
  execute: async (useCases, values, options): Promise<NotesOfSandbox> =>
    await useCases.get(WriteNotes).remove(values, options),
});

/** `note-give`: give an agent the notes that nobody was told of, and note whose task they are. */
export const giveNotes = operation({
  name: 'note-give',
  summary: 'Give an agent the notes on lines that nobody was told of, as its task',
  effect: 'write',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    agent: fields.text('name').describe('Whose task they are'),
    most: z.int().min(1).describe('Characters of the notes together; the first is given whatever it has'),
  }),
  execute: async (useCases, values, options): Promise<readonly ReviewNote[]> =>
    await useCases.get(WriteNotes).giveTask(values, options),
});

/** `note-return`: nobody was told of these notes after all, because their agent never began. */
export const returnNotes = operation({
  name: 'note-return',
  summary: 'Let notes on lines wait again, whose agent never began with them',
  effect: 'write',
  input: z.strictObject({ sandbox: fields.sandbox(), notes: numbers }),
  execute: async (useCases, values, options): Promise<NotesOfSandbox> =>
    await useCases.get(WriteNotes).takeBack(values, options),
});
