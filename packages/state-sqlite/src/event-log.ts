import { type CallOptions, type Clock, type LitterboxEvent } from '@litterbox/core/provider';
import { anything, dictionary, number, object, optional, type ShapeOf, text } from './json-shape.ts';
import type { StateDatabase } from './database/state-database.ts';
import { fromJson, toJson } from './stored-json.ts';

const DEFAULT_LIMIT = 1000;
const SHAPE: ShapeOf<Omit<LitterboxEvent, 'sequence'>> = object({
  atMs: number,
  type: text,
  repositoryId: optional(text),
  sandbox: optional(text),
  data: dictionary(anything),
});

/** What happened, in order, for whoever follows. */
export class EventLog {
  readonly #database: StateDatabase;
  readonly #clock: Clock;

  constructor(database: StateDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async publish(
    { type, repositoryId, sandbox, data }: Omit<LitterboxEvent, 'sequence' | 'atMs'>,
    options?: CallOptions,
  ): Promise<LitterboxEvent> {
    const operation = 'state.publish';
    const body = {
      atMs: this.#clock.wallMs(),
      type,
      ...(repositoryId && { repositoryId }),
      ...(sandbox && { sandbox }),
      data,
    };
    const json = toJson(operation, body);
    // To the kernel only: an event tells of what was written to the disk elsewhere, several come with one command, and
    // whoever follows events in this boot is gone after a power cut too.
    return this.#database.write(operation, { ...options, durability: 'kernel' }, (transaction) => {
      const { lastInsertRowid } = transaction.sql('INSERT INTO event (body) VALUES (?)').run(json);
      return this.#parse(operation, { sequence: Number(lastInsertRowid), body: json });
    });
  }

  async events(after: number, options?: CallOptions & { readonly limit?: number }): Promise<readonly LitterboxEvent[]> {
    const operation = 'state.events';
    return this.#database.read(operation, options, (transaction) =>
      transaction
        .sql('SELECT sequence, body FROM event WHERE sequence > ? ORDER BY sequence LIMIT ?')
        .all(after, options?.limit ?? DEFAULT_LIMIT)
        .map((row) => this.#parse(operation, row)),
    );
  }

  #parse(operation: string, row: Record<string, unknown>): LitterboxEvent {
    const sequence = Number(row['sequence']);
    const place = `event ${sequence}`;
    return {
      sequence,
      ...fromJson(this.#database, operation, place, row['body'], SHAPE),
    };
  }
}
