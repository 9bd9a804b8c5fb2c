import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { ReviewNote } from '../../ports/state/review-note.ts';
import type { SandboxChange, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { audited } from '../common/audited.ts';
import { changeRecord } from '../common/change-record.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import { agentIn } from '../session/seat-agent.ts';
import type { ReadNotes } from './read-notes.ts';

/** Notes of one sandbox at once. */
export const MAX_NOTES = 50;
const MAX_CONTENT_BYTES = 8 * 2 ** 20;
const MAX_TEXT_CHARACTERS = 200;

/** Words on a line of a state that a person was shown. */
export interface WrittenNote extends Pick<ReviewNote, 'path' | 'line' | 'words'> {
  readonly sandbox: string;
  /** The state, by number or commit. */
  readonly revision: string;
}

/** The notes of a sandbox. */
export interface NotesOfSandbox {
  readonly notes: readonly ReviewNote[];
  /** The agent that is at work there, if any. */
  readonly agent?: string;
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly readNotes: ReadNotes;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly actor: string;
}

/** Keeps a person's words on lines for the agent: they are a fact of the sandbox, and the next task of `agent run`. */
export class WriteNotes {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async list(name: string, options?: CallOptions): Promise<NotesOfSandbox> {
    return await this.#notesOf(await this.#needs.findSandbox.find(name, options));
  }

  /** @throws LitterboxError `REV_NOT_FOUND`, `ARG_RANGE` beyond {@link MAX_NOTES} */
  async write({ sandbox, path, line, words, revision: name }: WrittenNote, options?: CallOptions) {
    const record = await this.#needs.findSandbox.find(sandbox, options);
    const repository = await this.#needs.openRepository.open(options);
    const { number: revision, commit: at } = await repository.resolve(record.id, name, options);
    const content = await repository
      .content(record.id, path, { ...options, at, maxBytes: MAX_CONTENT_BYTES })
      .catch(nothingWhereTooLarge);
    const text = content && lineOf(content, line);
    const atMs = Date.now();
    return await this.#change('sandbox-note', record, { path, line, revision }, ({ notes = [] }) => {
      if (notes.length >= MAX_NOTES) throw tooMany(record);
      const note = Math.max(0, ...notes.map((one) => one.note)) + 1;
      return { notes: [...notes, { note, path, line, revision, ...(text && { text }), words, atMs }] };
    });
  }

  /** Takes notes away. One that is not there any more is no failure. */
  async remove(
    { sandbox, notes: gone }: { readonly sandbox: string; readonly notes: readonly number[] },
    options?: CallOptions,
  ) {
    const record = await this.#needs.findSandbox.find(sandbox, options);
    return await this.#change('note-remove', record, { notes: [...gone] }, ({ notes = [] }) => ({
      notes: notes.filter(({ note }) => !gone.includes(note)),
    }));
  }

  /** Those that nobody was told of, for a program that lets an agent work on them. */
  async giveTask(
    { sandbox, agent, most }: { readonly sandbox: string; readonly agent: string; readonly most: number },
    options?: CallOptions,
  ): Promise<readonly ReviewNote[]> {
    const record = await this.#needs.findSandbox.find(sandbox, options);
    if (!record.notes?.some(({ given }) => given === undefined)) return [];
    return await audited(
      this.#needs.audit,
      { ...this.#entry('note-give', record), input: { agent } },
      async () => await this.#needs.readNotes.giveTask(record, agent, most, options),
      (notes) => ({ notes: notes.map(({ note }) => note) }),
    );
  }

  /** Notes whose agent never began with them: nobody was told. */
  async takeBack(
    { sandbox, notes: back }: { readonly sandbox: string; readonly notes: readonly number[] },
    options?: CallOptions,
  ) {
    const record = await this.#needs.findSandbox.find(sandbox, options);
    return await this.#change('note-return', record, { notes: [...back] }, ({ notes = [] }) => ({
      notes: notes.map(({ given, ...note }) => (given && !back.includes(note.note) ? { ...note, given } : note)),
    }));
  }

  async #change(
    operation: string,
    record: SandboxRecord,
    input: Readonly<Record<string, unknown>>,
    change: (now: SandboxRecord) => SandboxChange,
  ): Promise<NotesOfSandbox> {
    const start = { ...this.#entry(operation, record), input };
    return await audited(this.#needs.audit, start, async () =>
      this.#notesOf(await changeRecord(this.#needs.state, record, change)),
    );
  }

  #entry(operation: string, { id: sandbox, repositoryId }: SandboxRecord) {
    return { operation, actor: this.#needs.actor, repositoryId, sandbox };
  }

  async #notesOf(record: SandboxRecord): Promise<NotesOfSandbox> {
    const agent = await agentIn(this.#needs.state, record);
    return { notes: record.notes ?? [], ...(agent !== undefined && { agent }) };
  }
}

function lineOf(content: Uint8Array, line: number): string {
  const text = new TextDecoder().decode(content).split('\n', line)[line - 1] ?? '';
  return text.trim().slice(0, MAX_TEXT_CHARACTERS).toWellFormed();
}

function nothingWhereTooLarge(error: unknown): undefined {
  if (!isLitterboxError(error, 'FILE_TOO_LARGE')) throw error;
}

const tooMany = ({ slug }: SandboxRecord) =>
  new LitterboxError('ARG_RANGE', `${slug} has ${MAX_NOTES} notes already.`, {
    operation: 'sandbox.note',
    hint: 'Take away those that are done.',
    facts: { most: MAX_NOTES },
  });
