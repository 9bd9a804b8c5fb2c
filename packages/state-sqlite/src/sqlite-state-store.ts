import {
  type CallOptions,
  type Clock,
  type JournalEntry,
  type Lease,
  type LitterboxEvent,
  type RepositoryId,
  type SandboxChange,
  type SandboxId,
  type SandboxRecord,
  type Slug,
  type Spending,
  type StateStore,
  type StateWrite,
} from '@litterbox/core/provider';
import { Budgets } from './budgets.ts';
import { EventLog } from './event-log.ts';
import { Journal } from './journal.ts';
import { Leases } from './leases.ts';
import type { OwnerLocks } from './owner-locks.ts';
import { SandboxRecords } from './sandbox-records.ts';
import type { StateDatabase } from './database/state-database.ts';
import { TrustStore } from './trust-store.ts';

/** The state port, one part per concern over one database. */
export class SqliteStateStore implements StateStore {
  readonly #database: StateDatabase;
  readonly #owners: OwnerLocks;
  readonly #records: SandboxRecords;
  readonly #leases: Leases;
  readonly #journal: Journal;
  readonly #events: EventLog;
  readonly #trust: TrustStore;
  readonly #budgets: Budgets;

  constructor(database: StateDatabase, owners: OwnerLocks, clock: Clock) {
    this.#database = database;
    this.#owners = owners;
    this.#records = new SandboxRecords(database, clock);
    this.#leases = new Leases(database, clock);
    this.#journal = new Journal(database, owners, clock);
    this.#events = new EventLog(database, clock);
    this.#trust = new TrustStore(database);
    this.#budgets = new Budgets(database, clock);
  }

  insert = (record: Omit<SandboxRecord, 'generation'>, options?: CallOptions): Promise<SandboxRecord> =>
    this.#records.insert(record, options);
  update = (record: SandboxRecord, change: SandboxChange, options?: StateWrite): Promise<SandboxRecord> =>
    this.#records.update(record, change, options);
  get = (id: SandboxId, options?: CallOptions): Promise<SandboxRecord | undefined> => this.#records.get(id, options);
  find = (repositoryId: RepositoryId, slug: Slug, options?: CallOptions): Promise<SandboxRecord | undefined> =>
    this.#records.find(repositoryId, slug, options);
  list = (repositoryId?: RepositoryId, options?: CallOptions): Promise<readonly SandboxRecord[]> =>
    this.#records.list(repositoryId, options);
  remove = async (id: SandboxId, options?: CallOptions): Promise<void> => {
    await this.#records.remove(id, options);
    this.#leases.forget(`sandbox:${id}`);
  };

  lease = (resource: string, purpose: string, options?: CallOptions & { readonly waitMs?: number }): Promise<Lease> =>
    this.#leases.take(resource, purpose, options);

  begin = (
    entry: { readonly operation: string; readonly sandbox?: SandboxId; readonly step: string },
    options?: StateWrite,
  ): Promise<JournalEntry> => this.#journal.begin(entry, options);
  step = (id: string, step: string, options?: StateWrite): Promise<void> => this.#journal.step(id, step, options);
  end = (id: string, options?: StateWrite): Promise<void> => this.#journal.end(id, options);
  interrupted = (options?: CallOptions): Promise<readonly JournalEntry[]> => this.#journal.interrupted(options);

  publish = (event: Omit<LitterboxEvent, 'sequence' | 'atMs'>, options?: CallOptions): Promise<LitterboxEvent> =>
    this.#events.publish(event, options);
  events = (after: number, options?: CallOptions & { readonly limit?: number }): Promise<readonly LitterboxEvent[]> =>
    this.#events.events(after, options);

  isTrusted = (repositoryId: RepositoryId, contentHash: string, options?: CallOptions): Promise<boolean> =>
    this.#trust.isTrusted(repositoryId, contentHash, options);
  trustedText = (repositoryId: RepositoryId, options?: CallOptions): Promise<string | undefined> =>
    this.#trust.trustedText(repositoryId, options);
  trust = (repositoryId: RepositoryId, contentHash: string, text: string, options?: CallOptions): Promise<void> =>
    this.#trust.trust(repositoryId, contentHash, text, options);

  spend = (repositoryId: RepositoryId, spending: Spending, options?: CallOptions): Promise<boolean> =>
    this.#budgets.spend(repositoryId, spending, options);

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leases[Symbol.asyncDispose]();
    await this.#owners[Symbol.asyncDispose]();
    await this.#database[Symbol.asyncDispose]();
  }
}
