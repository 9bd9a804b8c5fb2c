import { type CallOptions, type RepositoryId } from '@litterbox/core/provider';
import { type ShapeOf, text } from './json-shape.ts';
import type { StateDatabase } from './database/state-database.ts';
import { fromJson, toJson } from './stored-json.ts';

const TEXT: ShapeOf<string> = text;

/** Which configurations a person said yes to, by repository and content. */
export class TrustStore {
  readonly #database: StateDatabase;

  constructor(database: StateDatabase) {
    this.#database = database;
  }

  async isTrusted(repositoryId: RepositoryId, contentHash: string, options?: CallOptions): Promise<boolean> {
    return this.#database.read('state.is-trusted', options, (transaction) => {
      const sql = 'SELECT 1 FROM trust WHERE repository_id = ? AND content_hash = ?';
      return transaction.sql(sql).get(repositoryId, contentHash) !== undefined;
    });
  }

  async trustedText(repositoryId: RepositoryId, options?: CallOptions): Promise<string | undefined> {
    const operation = 'state.trusted-text';
    return this.#database.read(operation, options, (transaction) => {
      const sql = 'SELECT body FROM trust WHERE repository_id = ? ORDER BY sequence DESC LIMIT 1';
      const row = transaction.sql(sql).get(repositoryId);
      const place = `the trusted text of repository ${repositoryId}`;
      return row && fromJson(this.#database, operation, place, row['body'], TEXT);
    });
  }

  async trust(repositoryId: RepositoryId, contentHash: string, content: string, options?: CallOptions): Promise<void> {
    const body = toJson('state.trust', content);
    await this.#database.write('state.trust', options, (transaction) => {
      // Replaced, not kept: trusted again means trusted last.
      const sql = 'INSERT OR REPLACE INTO trust (repository_id, content_hash, body) VALUES (?, ?, ?)';
      transaction.sql(sql).run(repositoryId, contentHash, body);
    });
  }
}
