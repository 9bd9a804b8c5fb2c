import { Buffer } from 'node:buffer';
import { closeSync, constants, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type CallOptions, type Clock, encodeRaw, LitterboxError, type StateWrite } from '@litterbox/core/provider';
import { AuditHead } from './audit-head.ts';
import { DiskReserve } from './disk-reserve.ts';
import { loadSqlite } from './load-sqlite.ts';
import { LogFile } from './log-file.ts';
import { LogSync } from './log-sync.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './schema.ts';
import { isBusy, isDiskFull, sqliteError, stateCorrupt } from './sqlite-error.ts';
import { prepareStateDirectory } from './state-directory.ts';

/** How long SQLite may wait for another process inside one call, which blocks this whole process. */
const BLOCKING_WAIT_MS = 20;
/** How long we wait in all, without blocking. */
const WAIT_MS = 10_000;
/** Longest pause between two attempts. */
const MAX_PAUSE_MS = 50;

export interface WriteOptions {
  /**
   * `disk`: when the promise resolves it survives a power cut (the log is synced, 0.2 ms here, several ms on a slow
   * disk). `kernel`: it survives the death of every process; a power cut may take it, and never anything before it,
   * and the next write to `disk` settles it too, because both go to one log in order.
   */
  readonly durability?: 'disk' | 'kernel';
  /** The write helps to free space, so a full disk gives up its reserve for it. */
  readonly freesSpace?: boolean;
}

/** How the caller of the port wants it written. */
export function written(options: StateWrite | undefined): CallOptions & WriteOptions {
  return { ...options, durability: options?.isLosable ? 'kernel' : 'disk' };
}

/** What a transaction may do. */
export interface Transaction {
  /** Prepared once, kept. */
  sql(text: string): StatementSync;
}

export interface OpenState extends Transaction {
  readonly database: DatabaseSync;
  readonly DatabaseSync: typeof import('node:sqlite').DatabaseSync;
  readonly head: AuditHead;
  readonly log: LogFile;
  readonly logSync: LogSync;
}

/** The one SQLite file: opened on first use, transactions, waiting, translation of errors. */
export class StateDatabase {
  readonly directory: string;
  readonly path: string;
  /** As given; checked when it is opened. */
  readonly #asked: string;
  readonly #bytes: Buffer;
  readonly #clock: Clock;
  readonly #migrations: readonly string[];
  readonly #reserve: DiskReserve;
  #opening: Promise<OpenState> | undefined;
  #durability: 'disk' | 'kernel' = 'disk';
  #disposed = false;

  /** @param migrations for tests of migration alone */
  constructor(directory: string, clock: Clock, migrations: readonly string[] = MIGRATIONS) {
    this.directory = resolve('/', directory);
    this.path = join(this.directory, 'state.db');
    this.#asked = directory;
    this.#bytes = this.pathOf();
    this.#clock = clock;
    this.#migrations = migrations;
    this.#reserve = new DiskReserve(this.pathOf('reserve'));
  }

  /** A file below the state directory, as the bytes that the operating system knows it by. */
  pathOf(...names: readonly string[]): Buffer {
    return Buffer.from(encodeRaw(join(this.directory, ...names)));
  }

  async read<Result>(
    operation: string,
    options: CallOptions | undefined,
    work: (transaction: Transaction) => Result,
  ): Promise<Result> {
    return this.#attempt(operation, options, {}, work);
  }

  /** Runs `work` in one transaction: all of it is written, or nothing. */
  async write<Result>(
    operation: string,
    options: (CallOptions & WriteOptions) | undefined,
    work: (transaction: Transaction) => Result,
  ): Promise<Result> {
    return await this.#attempt(operation, options, options ?? {}, (state) => {
      this.#setDurability(state, options?.durability ?? 'disk');
      state.sql('BEGIN IMMEDIATE').run();
      try {
        const result = work(state);
        state.sql('COMMIT').run();
        return result;
      } catch (error) {
        if (state.database.isTransaction) state.sql('ROLLBACK').run();
        throw error;
      }
    });
  }

  /**
   * Brings to the disk what was committed to the kernel, at a fraction of what `disk` costs, and behind the caller's back.
   *
   * @param after called when it is there
   */
  async syncBehind(after: (state: OpenState) => void): Promise<void> {
    const state = await this.open();
    state.logSync.request(() => after(state));
  }

  /**
   * Waits until all that {@link syncBehind} was asked for is on the disk, but for the newest request, which may be on its way. Throws when
   * a sync failed since this was asked last.
   */
  async keptUp(operation: string): Promise<void> {
    const { database, logSync } = await this.open();
    try {
      await logSync.keptUp();
    } catch (cause) {
      try {
        // The kernel takes what it could not write for written. Elsewhere and synced it is safe for those who come after.
        database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch {
        // the first failure says it
      }
      throw this.fail(operation, this.path, cause);
    }
  }

  /** @throws LitterboxError `STATE_CORRUPT`: what is in the file cannot be what we wrote. */
  corrupt(operation: string, reason: string): LitterboxError {
    return stateCorrupt(operation, this.path, reason);
  }

  fail(operation: string, path: string, cause: unknown): LitterboxError {
    return sqliteError(operation, { directory: this.#bytes, path }, cause);
  }

  async open(): Promise<OpenState> {
    if (this.#disposed) {
      throw new LitterboxError('DISPOSED', 'The state store was used after it had been disposed.', {
        operation: 'state.open',
        hint: 'Keep it until the last call has ended.',
      });
    }
    const opening = (this.#opening ??= this.#open());
    try {
      return await opening;
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined; // what was wrong may be mended before the next call
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    const state = await this.#opening?.catch(() => undefined);
    try {
      await state?.logSync.settled();
    } catch (cause) {
      throw this.fail('state.close', this.path, cause);
    } finally {
      state?.head.close();
      state?.log.close();
      state?.database.close();
    }
  }

  async #attempt<Result>(
    operation: string,
    options: CallOptions | undefined,
    { freesSpace }: WriteOptions,
    work: (state: OpenState) => Result,
  ): Promise<Result> {
    options?.signal?.throwIfAborted();
    const deadline = this.#clock.monotonicMs() + WAIT_MS;
    for (let pause = 1; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      const state = await this.open();
      options?.signal?.throwIfAborted();
      try {
        return work(state);
      } catch (error) {
        if (freesSpace && isDiskFull(error, this.#bytes) && this.#reserve.release()) continue;
        if (!isBusy(error) || this.#clock.monotonicMs() >= deadline) throw this.fail(operation, this.path, error);
      }
      await this.#clock.sleep(pause * (0.5 + Math.random() / 2), options);
    }
  }

  #setDurability(state: OpenState, durability: 'disk' | 'kernel'): void {
    if (durability === this.#durability) return;
    state.database.exec(`PRAGMA synchronous = ${durability === 'disk' ? 'FULL' : 'NORMAL'}`);
    this.#durability = durability;
  }

  async #open(): Promise<OpenState> {
    prepareStateDirectory(this.#asked);
    const { DatabaseSync } = await loadSqlite();
    const deadline = this.#clock.monotonicMs() + WAIT_MS;
    let isFull = false;
    for (let pause = 1; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      try {
        return this.#openNow(DatabaseSync, isFull);
      } catch (error) {
        // The files that SQLite shares between programs are made at every first opening, also of one who looks or deletes.
        if (isDiskFull(error, this.#bytes) && this.#reserve.release()) {
          isFull = true;
          continue;
        }
        if (!isBusy(error) || this.#clock.monotonicMs() >= deadline) throw this.fail('state.open', this.path, error);
      }
      await this.#clock.sleep(pause);
    }
  }

  #openNow(Database: typeof DatabaseSync, isFull: boolean): OpenState {
    for (const name of ['locks', 'owners']) mkdirSync(this.pathOf(name), { recursive: true, mode: 0o700 });
    const path = this.pathOf('state.db');
    try {
      closeSync(openSync(path, 'wx', 0o600)); // SQLite would make it readable for everyone
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const database = new Database(path, { timeout: BLOCKING_WAIT_MS });
    try {
      const headPath = this.pathOf('audit.head');
      database.exec('PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF');
      migrate(database, { path: this.path, migrations: this.#migrations, wasUsed: () => existsSync(headPath) });
      const isFresh = database.prepare('SELECT sequence FROM audit_head WHERE sequence > 0').get() === undefined;
      const head = new AuditHead(headPath, isFresh);
      if (isFresh) syncDirectory(this.#bytes);
      this.#durability = 'disk';
      this.#reserve.keep(isFull);
      const statements = new Map<string, StatementSync>();
      const sql = (text: string) => {
        let statement = statements.get(text);
        if (!statement) statements.set(text, (statement = database.prepare(text)));
        return statement;
      };
      const log = new LogFile(this.pathOf('state.db-wal'), () => syncDirectory(this.#bytes));
      return { database, DatabaseSync: Database, head, log, logSync: new LogSync(log), sql };
    } catch (error) {
      database.close();
      throw error;
    }
  }
}

/** The names of new files survive a power cut only once their directory is synced, which SQLite leaves to its caller. */
function syncDirectory(directory: Buffer): void {
  const file = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
