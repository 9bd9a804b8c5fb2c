import { LitterboxError, shown } from '@litterbox/core/provider';
import type { DatabaseSync } from 'node:sqlite';
import { APPLICATION_ID } from './schema.ts';
import { stateCorrupt } from './sqlite-error.ts';

export interface MigrateOptions {
  readonly path: string;
  readonly migrations: readonly string[];
  /** Whether something beside the file says that it held something once. */
  readonly wasUsed: () => boolean;
}

/**
 * Brings the file to the newest version, after copying what an older release wrote to `PATH.vN`.
 *
 * @throws LitterboxError `STATE_TOO_NEW` (nothing is written then), `STATE_CORRUPT` when it is not a file of ours.
 */
export function migrate(database: DatabaseSync, options: MigrateOptions): void {
  const newest = options.migrations.length;
  const found = versionOf(database);
  if (found === newest) return checkIdentity(database, options.path);
  if (found > newest) throw tooNew(options.path, found, newest);
  if (found === 0) {
    if (tableCount(database) > 0) throw stateCorrupt('state.open', options.path, 'it was not written by Litterbox');
    // In this order: whoever makes the file writes the version first and leaves the trace of use afterwards.
    if (options.wasUsed() && versionOf(database) === 0) {
      throw stateCorrupt('state.open', options.path, 'it is empty, but it was in use before');
    }
    database.exec('PRAGMA journal_mode = WAL');
  } else {
    checkIdentity(database, options.path);
    // SQLite copies: a copy by file would close a descriptor of the file and with it this process's locks on it.
    const copy = `${options.path}.v${found}`;
    database.prepare('VACUUM INTO ?').run(uniqueCopyName(copy));
  }
  database.exec('BEGIN IMMEDIATE');
  try {
    const now = versionOf(database); // another process may have been faster
    if (now > newest) throw tooNew(options.path, now, newest);
    for (const step of options.migrations.slice(now)) database.exec(step);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${newest}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** VACUUM INTO refuses a file that exists, and an earlier attempt may have been killed. */
function uniqueCopyName(name: string): string {
  return `${name}-${crypto.randomUUID()}`;
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0);
}

function tableCount(database: DatabaseSync): number {
  return Number(database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get()?.['tables'] ?? 0);
}

function checkIdentity(database: DatabaseSync, path: string): void {
  const id = database.prepare('PRAGMA application_id').get()?.['application_id'];
  if (id !== APPLICATION_ID) throw stateCorrupt('state.open', path, 'it was not written by Litterbox');
}

function tooNew(path: string, found: number, newest: number): LitterboxError {
  return new LitterboxError(
    'STATE_TOO_NEW',
    `The state file ${shown(path)} has version ${found}; this release of Litterbox knows versions up to ${newest}.`,
    { operation: 'state.open', hint: 'Use the newer release of Litterbox that wrote it. Nothing was changed.' },
  );
}
