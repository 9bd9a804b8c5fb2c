import { type CallOptions, type Clock, type RepositoryId, type Spending } from '@litterbox/core/provider';
import type { StateDatabase } from './database/state-database.ts';

/** What repositories have spent of their budgets, by name and item, until its window is over. */
export class Budgets {
  readonly #database: StateDatabase;
  readonly #clock: Clock;

  constructor(database: StateDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async spend(
    repositoryId: RepositoryId,
    { name, item, amount, most, windowMs }: Spending,
    options?: CallOptions,
  ): Promise<boolean> {
    // To the kernel only: whoever spends is gone after a power cut too, and it is asked for many times in a minute.
    const how = { ...options, durability: 'kernel' as const };
    return await this.#database.write('state.spend', how, (transaction) => {
      const now = this.#clock.wallMs();
      const ends = now + windowMs;
      transaction.sql('DELETE FROM spent WHERE ends_ms <= ?').run(now);
      const ofBudget = 'repository_id = ? AND name = ?';
      // Where the clock was set back.
      transaction
        .sql(`UPDATE spent SET ends_ms = ? WHERE ${ofBudget} AND ends_ms > ?`)
        .run(ends, repositoryId, name, ends);
      if (item !== undefined) {
        const sql = `SELECT 1 FROM spent WHERE ${ofBudget} AND item = ?`;
        if (transaction.sql(sql).get(repositoryId, name, item)) return true;
      }
      const sql = `SELECT total(amount) AS amount FROM spent WHERE ${ofBudget}`;
      const spent = Number(transaction.sql(sql).get(repositoryId, name)?.['amount']);
      if (spent + amount > most) return false;
      transaction
        .sql(
          `INSERT INTO spent (repository_id, name, item, amount, ends_ms) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET amount = amount + excluded.amount`,
        )
        .run(repositoryId, name, item ?? '', amount, ends);
      return true;
    });
  }
}
