import { rm } from 'node:fs/promises';
import {
  type CallOptions,
  type Clock,
  LitterboxError,
  type RepositoryId,
  type SandboxChange,
  type SandboxId,
  type SandboxRecord,
  shown,
  type StateWrite,
  type Slug,
  advice,
  step,
} from '@litterbox/core/provider';
import { AGENTS } from './agent-directory.ts';
import { RECORD_SHAPE } from './record-shape.ts';
import { type StateDatabase, type Transaction, written } from './database/state-database.ts';
import { fromJson, toJson } from './stored-json.ts';

/** The row of each sandbox. */
export class SandboxRecords {
  readonly #database: StateDatabase;
  readonly #clock: Clock;
  /** What was parsed last: a call reads the record of its sandbox three times, mostly unchanged. */
  #last: { readonly body: unknown; readonly record: SandboxRecord } | undefined;

  constructor(database: StateDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async insert(record: Omit<SandboxRecord, 'generation'>, options?: CallOptions): Promise<SandboxRecord> {
    const operation = 'state.insert';
    const stored: SandboxRecord = { ...record, generation: 1 };
    const body = toJson(operation, stored);
    return this.#database.write(operation, options, (transaction) => {
      const twin = transaction
        .sql('SELECT * FROM sandbox WHERE repository_id = ? AND slug = ?')
        .get(record.repositoryId, record.slug);
      if (twin) throw this.#slugTaken(this.#parse(operation, twin));
      if (transaction.sql('SELECT 1 FROM sandbox WHERE id = ?').get(record.id)) {
        throw new LitterboxError('ALREADY_EXISTS', `A sandbox with the id ${record.id} exists already.`, {
          operation,
          hint: 'Make a new id for each sandbox.',
        });
      }
      transaction
        .sql('INSERT INTO sandbox (id, repository_id, slug, generation, body) VALUES (?, ?, ?, 1, ?)')
        .run(record.id, record.repositoryId, record.slug, body);
      return this.#parse(operation, { id: record.id, generation: 1, body });
    });
  }

  async update(record: SandboxRecord, change: SandboxChange, options?: StateWrite): Promise<SandboxRecord> {
    const operation = 'state.update';
    const freesSpace = change.state === 'deleting';
    const isLosable = options?.isLosable || isMark(change);
    return this.#database.write(operation, { ...written({ ...options, isLosable }), freesSpace }, (transaction) => {
      const row = transaction.sql('SELECT * FROM sandbox WHERE id = ?').get(record.id);
      if (!row) {
        throw new LitterboxError('NOT_FOUND', `There is no sandbox ${shown(record.slug)} (${record.id}) any more.`, {
          operation,
          hint: advice`It was deleted; look with ${step('sandbox-list')}.`,
        });
      }
      const current = this.#parse(operation, row);
      if (current.generation !== record.generation) {
        throw new LitterboxError(
          'CONFLICT',
          `The record of sandbox ${shown(record.slug)} is at generation ${current.generation}, not ${record.generation}: ` +
            'another process changed it.',
          {
            operation,
            hint: 'Read the record again, decide again, then write.',
            facts: { expected: record.generation, found: current.generation },
          },
        );
      }
      const generation = current.generation + 1;
      const changed = { ...applyChange(current, change), updatedAtMs: this.#clock.wallMs(), generation };
      const body = toJson(operation, changed);
      transaction.sql('UPDATE sandbox SET generation = ?, body = ? WHERE id = ?').run(generation, body, record.id);
      return this.#parse(operation, { id: record.id, generation, body });
    });
  }

  async get(id: SandboxId, options?: CallOptions): Promise<SandboxRecord | undefined> {
    return this.#one('state.get', options, (transaction) =>
      transaction.sql('SELECT * FROM sandbox WHERE id = ?').get(id),
    );
  }

  async find(repositoryId: RepositoryId, slug: Slug, options?: CallOptions): Promise<SandboxRecord | undefined> {
    return this.#one('state.find', options, (transaction) =>
      transaction.sql('SELECT * FROM sandbox WHERE repository_id = ? AND slug = ?').get(repositoryId, slug),
    );
  }

  async list(repositoryId?: RepositoryId, options?: CallOptions): Promise<readonly SandboxRecord[]> {
    const operation = 'state.list';
    return this.#database.read(operation, options, (transaction) => {
      // By sequence, never by time: clocks jump.
      const rows =
        repositoryId === undefined
          ? transaction.sql('SELECT * FROM sandbox ORDER BY sequence').all()
          : transaction.sql('SELECT * FROM sandbox WHERE repository_id = ? ORDER BY sequence').all(repositoryId);
      return rows.map((row) => this.#parse(operation, row));
    });
  }

  async remove(id: SandboxId, options?: CallOptions): Promise<void> {
    // Before the record: whoever is killed between the two finds it, and goes on.
    options?.signal?.throwIfAborted();
    await rm(this.#database.pathOf(AGENTS, id), { recursive: true, force: true });
    await this.#database.write('state.remove', { ...options, freesSpace: true }, (transaction) => {
      transaction.sql('DELETE FROM sandbox WHERE id = ?').run(id);
    });
  }

  async #one(
    operation: string,
    options: CallOptions | undefined,
    query: (transaction: Transaction) => Record<string, unknown> | undefined,
  ): Promise<SandboxRecord | undefined> {
    return this.#database.read(operation, options, (transaction) => {
      const row = query(transaction);
      return row && this.#parse(operation, row);
    });
  }

  #parse(operation: string, row: Record<string, unknown>): SandboxRecord {
    const place = `the record of sandbox ${String(row['id'])}`;
    const { body } = row;
    const record =
      this.#last && this.#last.body === body
        ? this.#last.record
        : fromJson(this.#database, operation, place, body, RECORD_SHAPE);
    this.#last = { body, record };
    if (record.id !== row['id'] || record.generation !== row['generation']) {
      throw this.#database.corrupt(operation, `${place} contradicts itself`);
    }
    return record;
  }

  #slugTaken(twin: SandboxRecord): LitterboxError {
    return new LitterboxError(
      'SANDBOX_EXISTS',
      `A sandbox named ${shown(twin.slug)} exists already in this repository; its state is ${twin.state}.`,
      {
        operation: 'state.insert',
        provider: twin.provider,
        hint: 'Another program has just made it: work in it once it is ready, or choose another name.',
        facts: { sandbox: twin.id, slug: twin.slug, state: twin.state },
      },
    );
  }
}

/**
 * A mark that a power cut takes is an older one again: changes are then looked at twice, and none is missed. So is what was shown: a person
 * is then asked once more.
 */
function isMark(change: SandboxChange): boolean {
  const keys = Object.keys(change);
  return keys.length === 1 && (keys[0] === 'mark' || keys[0] === 'shownTip');
}

function applyChange(record: SandboxRecord, change: SandboxChange): SandboxRecord {
  const members = new Map<string, unknown>(Object.entries(record));
  for (const [key, value] of Object.entries(change)) {
    if (value === null) members.delete(key);
    else if (value !== undefined) members.set(key, value);
  }
  return Object.fromEntries(members) as unknown as SandboxRecord; // the members of both, whose types agree
}
