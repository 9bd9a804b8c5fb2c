import {
  type Assurance,
  type CallOptions,
  type Clock,
  LitterboxError,
  type PooledSandbox,
  type RepositoryId,
  type SandboxId,
  type SandboxPool,
} from '@litterbox/core/provider';
import { number, object, optional, type ShapeOf } from './json-shape.ts';
import type { OwnerLocks } from './owner-locks.ts';
import { ASSURANCE_SHAPE } from './record-shape.ts';
import type { StateDatabase } from './database/state-database.ts';
import { fromJson, toJson } from './stored-json.ts';

/** What no query asks for. */
type Body = Pick<PooledSandbox, 'createdAtMs' | 'assurance'>;

const BODY: ShapeOf<Body> = object({ createdAtMs: number, assurance: optional(ASSURANCE_SHAPE) });

/** Who nobody is: the owner of what is ready. */
const NOBODY = '';

/** The pool port. Who makes, takes or removes one is its owner, as of journal entries. */
export class PooledSandboxes implements SandboxPool {
  readonly #database: StateDatabase;
  readonly #owners: OwnerLocks;
  readonly #clock: Clock;

  constructor(database: StateDatabase, owners: OwnerLocks, clock: Clock) {
    this.#database = database;
    this.#owners = owners;
    this.#clock = clock;
  }

  async add(
    sandbox: Pick<PooledSandbox, 'id' | 'repositoryId' | 'provider' | 'fingerprint'>,
    options?: CallOptions,
  ): Promise<PooledSandbox> {
    options?.signal?.throwIfAborted();
    const owner = await this.#owners.own();
    const { id, repositoryId, provider, fingerprint } = sandbox;
    const body: Body = { createdAtMs: this.#clock.wallMs() };
    const stored = toJson('pool.add', body);
    await this.#database.write('pool.add', options, (transaction) => {
      transaction
        .sql(
          "INSERT INTO pool (id, repository_id, provider, fingerprint, state, owner, body) VALUES (?, ?, ?, ?, 'filling', ?, ?)",
        )
        .run(id, repositoryId, provider, fingerprint, owner, stored);
    });
    return { id, repositoryId, provider, fingerprint, state: 'filling', ...body };
  }

  async offer(id: SandboxId, assurance: Assurance, options?: CallOptions): Promise<void> {
    const operation = 'pool.offer';
    const owner = await this.#owners.own();
    await this.#database.write(operation, options, (transaction) => {
      const row = transaction.sql('SELECT * FROM pool WHERE id = ? AND owner = ?').get(id, owner);
      if (row?.['state'] !== 'filling') {
        throw new LitterboxError('NOT_FOUND', `The prepared sandbox ${id} is not being made by this process.`, {
          operation,
          hint: 'Somebody removed it; make another one.',
        });
      }
      const body: Body = { ...this.#bodyOf(operation, row), assurance };
      transaction
        .sql("UPDATE pool SET state = 'ready', owner = ?, body = ? WHERE id = ?")
        .run(NOBODY, toJson(operation, body), id);
    });
  }

  async take(
    { repositoryId, provider, fingerprint }: Pick<PooledSandbox, 'repositoryId' | 'provider' | 'fingerprint'>,
    options?: CallOptions,
  ): Promise<PooledSandbox | undefined> {
    options?.signal?.throwIfAborted();
    const operation = 'pool.take';
    const owner = await this.#owners.own();
    // To the kernel alone: what a power cut gives back is a sandbox that does not run any more, and is found to be so.
    return await this.#database.write(operation, { ...options, durability: 'kernel' }, (transaction) => {
      const row = transaction
        .sql(
          `UPDATE pool SET state = 'claimed', owner = ? WHERE sequence = (SELECT sequence FROM pool
           WHERE state = 'ready' AND repository_id = ? AND provider = ? AND fingerprint = ? ORDER BY sequence LIMIT 1) RETURNING *`,
        )
        .get(owner, repositoryId, provider, fingerprint);
      return row && this.#pooled(operation, row);
    });
  }

  async condemn(id: SandboxId, options?: CallOptions): Promise<boolean> {
    const owner = await this.#owners.own();
    const found = await this.get(id, options);
    if (!found) return false;
    const dead = found.state === 'ready' ? undefined : await this.#deadOwner(id, options);
    if (found.state !== 'ready' && dead === undefined) return false;
    return await this.#database.write('pool.condemn', { ...options, freesSpace: true }, (transaction) => {
      const { changes } = transaction
        .sql("UPDATE pool SET state = 'condemned', owner = ? WHERE id = ? AND owner = ?")
        .run(owner, id, dead ?? NOBODY);
      return Number(changes) === 1;
    });
  }

  async get(id: SandboxId, options?: CallOptions): Promise<PooledSandbox | undefined> {
    return await this.#database.read('pool.get', options, (transaction) => {
      const row = transaction.sql('SELECT * FROM pool WHERE id = ?').get(id);
      return row && this.#pooled('pool.get', row);
    });
  }

  async list(repositoryId?: RepositoryId, options?: CallOptions): Promise<readonly PooledSandbox[]> {
    const operation = 'pool.list';
    return await this.#database.read(operation, options, (transaction) => {
      const rows =
        repositoryId === undefined
          ? transaction.sql('SELECT * FROM pool ORDER BY sequence').all()
          : transaction.sql('SELECT * FROM pool WHERE repository_id = ? ORDER BY sequence').all(repositoryId);
      return rows.map((row) => this.#pooled(operation, row));
    });
  }

  async abandoned(options?: CallOptions): Promise<readonly PooledSandbox[]> {
    const operation = 'pool.abandoned';
    const rows = await this.#database.read(operation, options, (transaction) =>
      transaction.sql("SELECT * FROM pool WHERE state <> 'ready' ORDER BY sequence").all(),
    );
    const found: PooledSandbox[] = [];
    for (const row of rows)
      if (!(await this.#owners.isAlive(String(row['owner'])))) found.push(this.#pooled(operation, row));
    return found;
  }

  async remove(id: SandboxId, options?: CallOptions): Promise<void> {
    await this.#database.write('pool.remove', { ...options, freesSpace: true }, (transaction) => {
      transaction.sql('DELETE FROM pool WHERE id = ?').run(id);
    });
  }

  async #deadOwner(id: SandboxId, options?: CallOptions): Promise<string | undefined> {
    const owner = await this.#database.read('pool.condemn', options, (transaction) =>
      String(transaction.sql('SELECT owner FROM pool WHERE id = ?').get(id)?.['owner'] ?? NOBODY),
    );
    return owner === NOBODY || (await this.#owners.isAlive(owner)) ? undefined : owner;
  }

  #pooled(operation: string, row: Record<string, unknown>): PooledSandbox {
    const { id, repository_id: repositoryId, provider, fingerprint, state } = row;
    return {
      ...({ id, repositoryId, provider, fingerprint, state } as PooledSandbox), // columns that the file itself checks
      ...this.#bodyOf(operation, row),
    };
  }

  #bodyOf(operation: string, row: Record<string, unknown>): Body {
    return fromJson(this.#database, operation, `the prepared sandbox ${String(row['id'])}`, row['body'], BODY);
  }
}
