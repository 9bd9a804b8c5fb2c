import {
  type CallOptions,
  type Clock,
  type JournalEntry,
  LitterboxError,
  type SandboxId,
  type StateWrite,
} from '@litterbox/core/provider';
import { number, object, optional, type ShapeOf, text } from './json-shape.ts';
import type { OwnerLocks } from './owner-locks.ts';
import { type StateDatabase, written } from './database/state-database.ts';
import { fromJson, toJson } from './stored-json.ts';

const SHAPE: ShapeOf<Omit<JournalEntry, 'id' | 'step'>> = object({
  operation: text,
  sandbox: optional(text),
  startedAtMs: number,
});

/** What was begun and not ended yet, and by whom. */
export class Journal {
  readonly #database: StateDatabase;
  readonly #owners: OwnerLocks;
  readonly #clock: Clock;

  constructor(database: StateDatabase, owners: OwnerLocks, clock: Clock) {
    this.#database = database;
    this.#owners = owners;
    this.#clock = clock;
  }

  async begin(
    { operation, sandbox, step }: { readonly operation: string; readonly sandbox?: SandboxId; readonly step: string },
    options?: StateWrite,
  ): Promise<JournalEntry> {
    options?.signal?.throwIfAborted();
    const owner = await this.#owners.own();
    const id = crypto.randomUUID();
    const entry = { operation, ...(sandbox && { sandbox }), startedAtMs: this.#clock.wallMs() };
    const body = toJson('state.begin', entry);
    const freesSpace = operation.endsWith('delete');
    await this.#database.write('state.begin', { ...written(options), freesSpace }, (transaction) => {
      transaction.sql('INSERT INTO journal (id, owner, step, body) VALUES (?, ?, ?, ?)').run(id, owner, step, body);
    });
    return { id, step, ...entry };
  }

  async step(id: string, step: string, options?: StateWrite): Promise<void> {
    options?.signal?.throwIfAborted();
    // Whoever takes a step owns the entry from now on: a process that finishes what a dead one began may die as well.
    const owner = await this.#owners.own();
    await this.#database.write('state.step', { ...written(options), freesSpace: true }, (transaction) => {
      const { changes } = transaction.sql('UPDATE journal SET step = ?, owner = ? WHERE id = ?').run(step, owner, id);
      if (Number(changes) === 1) return;
      throw new LitterboxError('NOT_FOUND', `The journal has no entry ${id}: it has ended already.`, {
        operation: 'state.step',
        hint: 'Take no step after the end.',
      });
    });
  }

  async end(id: string, options?: StateWrite): Promise<void> {
    await this.#database.write('state.end', { ...written(options), freesSpace: true }, (transaction) => {
      transaction.sql('DELETE FROM journal WHERE id = ?').run(id);
    });
  }

  async interrupted(options?: CallOptions): Promise<readonly JournalEntry[]> {
    const operation = 'state.interrupted';
    const rows = await this.#database.read(operation, options, (transaction) =>
      transaction.sql('SELECT id, owner, step, body FROM journal ORDER BY sequence').all(),
    );
    const alive = new Map<string, boolean>();
    const entries: JournalEntry[] = [];
    for (const row of rows) {
      const owner = String(row['owner']);
      if (!alive.has(owner)) alive.set(owner, await this.#owners.isAlive(owner));
      if (alive.get(owner)) continue;
      const id = String(row['id']);
      const body = fromJson(this.#database, operation, `journal entry ${id}`, row['body'], SHAPE);
      entries.push({ id, step: String(row['step']), ...body });
    }
    return entries;
  }
}
