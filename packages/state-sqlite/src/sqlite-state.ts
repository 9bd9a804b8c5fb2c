import { type AuditLog, type Clock, type StateStore } from '@litterbox/core/provider';
import { OwnerLocks } from './owner-locks.ts';
import { SqliteAuditLog } from './sqlite-audit-log.ts';
import { SqliteStateStore } from './sqlite-state-store.ts';
import { StateDatabase } from './database/state-database.ts';
import { systemClock } from './system-clock.ts';

/** Where the state of a user is kept. */
export interface SqliteStateOptions {
  /** Absolute path. Created with mode 0700 on first use; refused when others could read or change it. */
  readonly directory: string;
  /** @defaultValue the clock of this machine */
  readonly clock?: Clock;
}

/**
 * Records and audit of one user in one SQLite file, shared by any number of processes. Does nothing until it is used; disposing `state`
 * closes both.
 */
export function sqliteState({ directory, clock = systemClock }: SqliteStateOptions): {
  readonly state: StateStore;
  readonly audit: AuditLog;
} {
  const database = new StateDatabase(directory, clock);
  const owners = new OwnerLocks(database);
  return {
    state: new SqliteStateStore(database, owners, clock),
    audit: new SqliteAuditLog(database, owners, clock),
  };
}
