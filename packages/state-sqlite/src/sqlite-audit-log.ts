import { createHash } from 'node:crypto';
import {
  type AuditEntry,
  type AuditFinish,
  type AuditLog,
  type AuditStart,
  type CallOptions,
  type Clock,
  LitterboxError,
  type RepositoryId,
  type SandboxId,
  shown,
  advice,
  step,
} from '@litterbox/core/provider';
import { anything, dictionary, number, object, oneOf, optional, type ShapeOf, text } from './json-shape.ts';
import type { OwnerLocks } from './owner-locks.ts';
import type { StateDatabase, Transaction, WriteOptions } from './database/state-database.ts';
import { fromJson, toJson } from './stored-json.ts';

const MAX_INPUT_BYTES = 16 * 1024;
const DEFAULT_LIMIT = 100;
/** Entries that `verify` looks at in one go: what it keeps in memory, and how long others wait. */
const VERIFY_PAGE = 500;

interface StartBody extends Omit<AuditStart, 'isRead'> {
  readonly atMs: number;
}
interface EndBody {
  /** Sequence of the start that this ends. */
  readonly starts: number;
  readonly durationMs?: number;
  readonly outcome: 'ok' | 'error' | 'unknown';
  readonly result: Readonly<Record<string, unknown>>;
}

const START: ShapeOf<StartBody> = object({
  operation: text,
  actor: text,
  repositoryId: optional(text),
  sandbox: optional(text),
  input: dictionary(anything),
  atMs: number,
});
const END: ShapeOf<EndBody> = object({
  starts: number,
  durationMs: optional(number),
  outcome: oneOf('ok', 'error', 'unknown'),
  result: dictionary(anything),
});

/** The audit port: a hash chain in the state file, its newest hash once more in a table and in a file. */
export class SqliteAuditLog implements AuditLog {
  readonly #database: StateDatabase;
  readonly #owners: OwnerLocks;
  readonly #clock: Clock;

  constructor(database: StateDatabase, owners: OwnerLocks, clock: Clock) {
    this.#database = database;
    this.#owners = owners;
    this.#clock = clock;
  }

  async start(entry: AuditStart, options?: CallOptions): Promise<AuditFinish> {
    const operation = 'audit.start';
    options?.signal?.throwIfAborted();
    const startedAt = this.#clock.monotonicMs();
    let sequence: number;
    try {
      // The ends of the calls before the last one are on the disk by now, or the log cannot be relied on.
      if (!entry.isRead) await this.#database.keptUp(operation);
      const owner = await this.#owners.own();
      const body: StartBody = {
        operation: entry.operation,
        actor: entry.actor,
        ...(entry.repositoryId && { repositoryId: entry.repositoryId }),
        ...(entry.sandbox && { sandbox: entry.sandbox }),
        input: boundedInput(toJson(operation, entry.input), entry.input),
        atMs: this.#clock.wallMs(),
      };
      // To the kernel only: a start must outlive a kill of everything, which is when it is needed to say `unknown`.
      // A power cut ends the call as well, and whatever that call wrote to disk in this file settled the start first.
      // So a call costs one sync, behind its end, not two.
      const how: WriteOptions = { durability: 'kernel', freesSpace: entry.operation.endsWith('delete') };
      sequence = await this.#database.write(operation, { ...options, ...how }, (transaction) => {
        const appended = append(transaction, toJson(operation, body));
        transaction.sql('INSERT INTO audit_open (starts, owner) VALUES (?, ?)').run(appended.sequence, owner);
        return appended.sequence;
      });
    } catch (error) {
      if (options?.signal?.aborted) throw error;
      throw unavailable(operation, error);
    }
    return async (outcome, result) => {
      const durationMs = this.#clock.monotonicMs() - startedAt;
      await this.#finish({ starts: sequence, durationMs, outcome, result }, entry.isRead === true);
    };
  }

  async entries(
    filter: { readonly repositoryId?: RepositoryId; readonly sandbox?: SandboxId; readonly limit?: number },
    options?: CallOptions,
  ): Promise<readonly AuditEntry[]> {
    const operation = 'audit.entries';
    const dead = await this.#closeDead(options);
    const conditions = ['start.starts IS NULL'];
    const values: string[] = [];
    if (filter.repositoryId !== undefined) {
      conditions.push('start.repository_id = ?');
      values.push(filter.repositoryId);
    }
    if (filter.sandbox !== undefined) {
      conditions.push('start.sandbox = ?');
      values.push(filter.sandbox);
    }
    return this.#database.read(operation, options, (transaction) =>
      transaction
        .sql(
          `SELECT start.sequence, start.body, start.hash, finish.body AS end_body, finish.hash AS end_hash
          FROM audit AS start LEFT JOIN audit AS finish ON finish.starts = start.sequence
          WHERE ${conditions.join(' AND ')} ORDER BY start.sequence DESC LIMIT ?`,
        )
        .all(...values, filter.limit ?? DEFAULT_LIMIT)
        .map((row) => {
          const sequence = Number(row['sequence']);
          const place = `audit entry ${sequence}`;
          const start = fromJson(this.#database, operation, place, row['body'], START);
          if (row['end_body'] === null) {
            const outcome = dead.has(sequence) ? ('unknown' as const) : ('running' as const);
            return { sequence, ...start, outcome, result: {}, hash: String(row['hash']) };
          }
          const place2 = `the end of ${place}`;
          const { starts: _starts, ...end } = fromJson(this.#database, operation, place2, row['end_body'], END);
          return { sequence, ...start, ...end, hash: String(row['end_hash']) };
        }),
    );
  }

  async verify(options?: CallOptions): Promise<{ readonly entries: number }> {
    const operation = 'audit.verify';
    options?.signal?.throwIfAborted();
    const { head } = await this.#database.open();
    const mark = head.read(); // before the walk: what is appended meanwhile lies behind it
    let last = { sequence: 0, hash: '' };
    let markFits = mark?.sequence === 0;
    for (;;) {
      const page = await this.#database.read(operation, options, (transaction) => {
        transaction.sql('BEGIN').run(); // rows and head of the same moment
        try {
          const sql = 'SELECT sequence, body, hash FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?';
          return { rows: transaction.sql(sql).all(last.sequence, VERIFY_PAGE), head: headOf(transaction) };
        } finally {
          transaction.sql('COMMIT').run();
        }
      });
      for (const row of page.rows) {
        const sequence = last.sequence + 1;
        if (row['sequence'] !== sequence) throw tampered(sequence, `entry ${sequence} is missing`);
        const hash = hashOf(last.hash, sequence, String(row['body']));
        if (row['hash'] !== hash) {
          throw tampered(sequence, `entry ${sequence} is not what was written, or the one before it was changed`);
        }
        if (mark?.sequence === sequence) {
          if (mark.hash !== hash)
            throw tampered(sequence, `entry ${sequence} differs from the one noted in audit.head`);
          markFits = true;
        }
        last = { sequence, hash };
      }
      if (page.rows.length === VERIFY_PAGE) {
        await this.#clock.sleep(0, options); // others of this process get their turn
        continue;
      }
      if (page.head.sequence !== last.sequence || page.head.hash !== last.hash) {
        const reason = `the log ends after entry ${last.sequence}, but entry ${page.head.sequence} was written`;
        throw tampered(last.sequence + 1, reason);
      }
      if (!mark) throw tampered(1, 'audit.head, which notes the newest entry, is missing or was changed');
      if (!markFits) {
        throw tampered(
          last.sequence + 1,
          `the log ends after entry ${last.sequence}, but entry ${mark.sequence} was written`,
        );
      }
      return { entries: last.sequence };
    }
  }

  async #finish(end: EndBody, isRead: boolean): Promise<void> {
    const operation = 'audit.finish';
    try {
      // May use the reserve: what has run must be on record even when the disk is full.
      const how: WriteOptions = { durability: 'kernel', freesSpace: true };
      const mark = await this.#database.write(operation, how, (transaction) =>
        this.#appendEnd(transaction, operation, end),
      );
      if (!mark) {
        throw new LitterboxError('INTERNAL', `Audit entry ${end.starts} was ended twice.`, {
          operation,
          hint: 'Please report this with the command that led to it.',
        });
      }
      // Nobody waits for the disk: a power cut takes at most the end of the last call of each process, whose revision tells of it. The
      // head is written only when the commit is on disk, so that it is never ahead of the log.
      if (!isRead) await this.#database.syncBehind(({ head }) => head.write(mark));
    } catch (error) {
      throw error instanceof LitterboxError && error.code === 'INTERNAL' ? error : unavailable(operation, error);
    }
  }

  /** Ends what dead processes left open. Their sequences, whether or not the ends could be written. */
  async #closeDead(options?: CallOptions): Promise<ReadonlySet<number>> {
    const operation = 'audit.close-dead';
    const open = await this.#database.read(operation, options, (transaction) =>
      transaction.sql('SELECT starts, owner FROM audit_open ORDER BY starts').all(),
    );
    const alive = new Map<string, boolean>();
    const dead = new Set<number>();
    for (const row of open) {
      const owner = String(row['owner']);
      if (!alive.has(owner)) alive.set(owner, await this.#owners.isAlive(owner));
      if (!alive.get(owner)) dead.add(Number(row['starts']));
    }
    if (dead.size === 0) return dead;
    try {
      const mark = await this.#database.write(operation, options, (transaction) => {
        let newest: ReturnType<typeof append> | undefined;
        for (const starts of dead) {
          newest = this.#appendEnd(transaction, operation, { starts, outcome: 'unknown', result: {} }) ?? newest;
        }
        return newest;
      });
      if (mark) (await this.#database.open()).head.write(mark);
    } catch (error) {
      options?.signal?.throwIfAborted();
      // Reading the log must work on a full or read-only disk: the next reader closes them.
      if (!(error instanceof LitterboxError) || !['DISK_FULL', 'PERMISSION_DENIED', 'BUSY'].includes(error.code))
        throw error;
    }
    return dead;
  }

  /** Nothing when it has an end already. */
  #appendEnd(transaction: Transaction, operation: string, end: EndBody) {
    const { changes } = transaction.sql('DELETE FROM audit_open WHERE starts = ?').run(end.starts);
    return Number(changes) === 1 ? append(transaction, toJson(operation, end)) : undefined;
  }
}

function append(transaction: Transaction, body: string): { readonly sequence: number; readonly hash: string } {
  const head = headOf(transaction);
  const sequence = head.sequence + 1;
  const hash = hashOf(head.hash, sequence, body);
  transaction.sql('INSERT INTO audit (sequence, body, hash) VALUES (?, ?, ?)').run(sequence, body, hash);
  transaction.sql('UPDATE audit_head SET sequence = ?, hash = ?').run(sequence, hash);
  return { sequence, hash };
}

function headOf(transaction: Transaction): { readonly sequence: number; readonly hash: string } {
  const row = transaction.sql('SELECT sequence, hash FROM audit_head').get();
  return { sequence: Number(row?.['sequence'] ?? 0), hash: String(row?.['hash'] ?? '') };
}

/** No part holds a newline: the hash before is hexadecimal, the body is JSON on one line. */
function hashOf(previous: string, sequence: number, body: string): string {
  return createHash('sha256').update(`${previous}\n${sequence}\n${body}`).digest('hex');
}

/** A long input is a reason to note less, never a reason not to run or not to audit. */
function boundedInput(json: string, input: AuditStart['input']): AuditStart['input'] {
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_INPUT_BYTES) return input;
  return { omitted: 'larger than 16 KiB', bytes, sha256: createHash('sha256').update(json).digest('hex') };
}

function unavailable(operation: string, cause: unknown): LitterboxError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const hint = cause instanceof LitterboxError ? (cause.details.next ?? cause.details.hint) : undefined;
  return new LitterboxError(
    'AUDIT_UNAVAILABLE',
    `The audit log cannot be written, so nothing may run: ${reason}`,
    {
      operation,
      hint: hint ?? advice`Run ${step('machine-check')}; reading still works.`,
      facts: { cause: cause instanceof LitterboxError ? cause.code : 'INTERNAL' },
    },
    { cause },
  );
}

function tampered(sequence: number, reason: string): LitterboxError {
  return new LitterboxError('AUDIT_TAMPERED', `The audit log was changed: ${shown(reason).slice(1, -1)}.`, {
    operation: 'audit.verify',
    hint: 'Compare with a backup of the state directory; entries before it are as they were written.',
    facts: { sequence },
  });
}
