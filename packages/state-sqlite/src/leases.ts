import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { closeSync, constants, existsSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { type CallOptions, type Clock, type Lease, LitterboxError, shown } from '@litterbox/core/provider';
import { LockFile } from './lock-file.ts';
import type { OpenState, StateDatabase } from './database/state-database.ts';

const DEFAULT_WAIT_MS = 10_000;
/** The longest that a timer can be set for, three weeks. */
const MAX_SLEEP_MS = 2 ** 31 - 1;
/** Longest pause between two looks at a lock that another process holds. */
const MAX_PAUSE_MS = 20;
/** Longer than MAX_PAUSE_MS, so that a process that waits gets its look in between. */
const YIELD_MS = 25;
/** Lock files that stay open for the next lease. Two descriptors each. */
const MAX_IDLE_FILES = 8;

interface Holder {
  readonly pid: number;
  readonly purpose: string;
}

interface Waiter {
  hasTurn: boolean;
  wake: () => void;
}

/** One resource that somebody in this process holds, waits for, or held a moment ago. */
interface Slot {
  readonly resource: string;
  readonly name: string;
  isTaken: boolean;
  wasHeld: boolean;
  /** Nobody will ask for it again: its files go with its release. */
  isGone: boolean;
  readonly waiting: Waiter[];
  file?: { readonly lock: LockFile; readonly holder: number };
}

/** Exclusive access by resource name: first come, first served within this process, by kernel lock between processes. */
export class Leases implements AsyncDisposable {
  readonly #database: StateDatabase;
  readonly #clock: Clock;
  /** In the order of their last use. */
  readonly #slots = new Map<string, Slot>();

  constructor(database: StateDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  async take(resource: string, purpose: string, options?: CallOptions & { readonly waitMs?: number }): Promise<Lease> {
    options?.signal?.throwIfAborted();
    const { waitMs: given } = options ?? {};
    const waitMs = given ?? DEFAULT_WAIT_MS;
    const fromStart = this.#clock.monotonicMs() + waitMs;
    const state = await this.#database.open();
    options?.signal?.throwIfAborted();
    const slot = this.#slotOf(resource);
    await this.#turn(slot, given === undefined ? undefined : fromStart, waitMs, options);
    const deadline = given === undefined ? this.#clock.monotonicMs() + waitMs : fromStart;
    try {
      await this.#lock(state, slot, deadline, waitMs, options);
      slot.wasHeld = true;
      writeHolder(slot, { pid: process.pid, purpose });
    } catch (error) {
      this.#pass(slot);
      throw error instanceof LitterboxError || options?.signal?.aborted
        ? error
        : this.#database.fail('state.lease', this.#pathText(slot), error);
    }
    let isHeld = true;
    return {
      resource,
      [Symbol.asyncDispose]: async () => {
        if (!isHeld) return;
        isHeld = false;
        this.#release(slot);
      },
    };
  }

  /** Lets the files of a resource that is gone go with its release, where this process holds it. Without that each sandbox that ever was leaves two. */
  forget(resource: string): void {
    const slot = this.#slots.get(resource);
    if (slot?.isTaken) slot.isGone = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const slot of this.#slots.values()) closeFile(slot);
    this.#slots.clear();
  }

  /** Waits for the others in this process, without a deadline as long as they take. When it resolves the slot is taken by the caller. */
  async #turn(slot: Slot, deadline: number | undefined, waitMs: number, options?: CallOptions): Promise<void> {
    if (!slot.isTaken) {
      slot.isTaken = true;
      return;
    }
    const waiter: Waiter = { hasTurn: false, wake: () => {} };
    const turn = new Promise<void>((resolve) => {
      waiter.wake = resolve;
    });
    slot.waiting.push(waiter);
    const timer = new AbortController();
    const signal = options?.signal ? AbortSignal.any([options.signal, timer.signal]) : timer.signal;
    const left = deadline === undefined ? MAX_SLEEP_MS : Math.max(0, deadline - this.#clock.monotonicMs());
    const pause = this.#clock.sleep(left, { signal }).catch(() => undefined); // why it ended is looked at below
    await Promise.race([turn, pause]);
    timer.abort();
    if (waiter.hasTurn) {
      if (!options?.signal?.aborted) return;
      this.#pass(slot); // the turn came together with the abort
    } else {
      slot.waiting.splice(slot.waiting.indexOf(waiter), 1);
    }
    options?.signal?.throwIfAborted();
    throw busy(slot, this.#readHolder(slot), waitMs);
  }

  /** Hands the slot to the next one in this process, or leaves it free. */
  #pass(slot: Slot): void {
    const next = slot.waiting.shift();
    if (next) {
      next.hasTurn = true;
      next.wake();
      return;
    }
    slot.isTaken = false;
    this.#closeIdle();
  }

  async #lock(state: OpenState, slot: Slot, deadline: number, waitMs: number, options?: CallOptions): Promise<void> {
    if (this.#othersWait(slot)) await this.#clock.sleep(YIELD_MS, options);
    for (let pause = 1; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      options?.signal?.throwIfAborted();
      const file = (slot.file ??= this.#openFile(state, slot));
      if (file.lock.tryLock()) {
        if (!file.lock.isStale()) return;
        closeFile(slot); // somebody removed the file: what is locked now is not what others look at
        continue;
      }
      const left = deadline - this.#clock.monotonicMs();
      if (left <= 0) throw busy(slot, this.#readHolder(slot), waitMs);
      writeFileSync(this.#pathOf(slot, 'waiting'), '', { mode: 0o600 });
      await this.#clock.sleep(Math.min(left, pause * (0.5 + Math.random() / 2)), options);
    }
  }

  #release(slot: Slot): void {
    try {
      // Removed while they are locked: whoever waits finds out by the name that what it locked is nobody's.
      if (slot.isGone)
        for (const kind of ['lock', 'holder', 'waiting']) rmSync(this.#pathOf(slot, kind), { force: true });
      writeHolder(slot, undefined);
      slot.file?.lock.unlock();
      if (slot.isGone) closeFile(slot);
    } catch {
      closeFile(slot); // closing frees the lock too, whatever was wrong
    }
    this.#pass(slot);
  }

  /** A process that gives one of its own the lease again and again would starve the other processes. */
  #othersWait(slot: Slot): boolean {
    // The first lease of this process, or nobody there: an error that is thrown costs more than a look.
    if (!slot.wasHeld || !existsSync(this.#pathOf(slot, 'waiting'))) return false;
    try {
      rmSync(this.#pathOf(slot, 'waiting'));
      return true;
    } catch {
      return false;
    }
  }

  #slotOf(resource: string): Slot {
    const name = createHash('sha256').update(JSON.stringify(resource)).digest('hex').slice(0, 32);
    const slot = this.#slots.get(resource) ?? {
      resource,
      name,
      isTaken: false,
      wasHeld: false,
      isGone: false,
      waiting: [],
    };
    this.#slots.delete(resource);
    this.#slots.set(resource, slot);
    return slot;
  }

  #closeIdle(): void {
    let tooMany = this.#slots.size - MAX_IDLE_FILES;
    for (const slot of this.#slots.values()) {
      if (tooMany <= 0) return;
      if (slot.isTaken) continue;
      closeFile(slot);
      this.#slots.delete(slot.resource);
      tooMany -= 1;
    }
  }

  #openFile(state: OpenState, slot: Slot) {
    // In place, never made anew: its readers see the old text or the new one.
    const holder = openSync(this.#pathOf(slot, 'holder'), constants.O_RDWR | constants.O_CREAT, 0o600);
    return { lock: new LockFile(state.DatabaseSync, this.#pathOf(slot, 'lock')), holder };
  }

  /** For messages only: the lock alone decides. */
  #readHolder(slot: Slot): Holder | undefined {
    try {
      const [line = ''] = readFileSync(this.#pathOf(slot, 'holder'), 'utf8').split('\n', 1);
      const found: unknown = JSON.parse(line);
      if (typeof found !== 'object' || found === null) return undefined;
      const { pid, purpose } = found as { pid?: unknown; purpose?: unknown };
      return typeof pid === 'number' && typeof purpose === 'string' ? { pid, purpose } : undefined;
    } catch {
      return undefined; // it has just been released, or is about to be written
    }
  }

  #pathOf(slot: Slot, kind: string): Buffer {
    return this.#database.pathOf('locks', `${slot.name}.${kind}`);
  }

  #pathText(slot: Slot): string {
    return `${this.#database.directory}/locks/${slot.name}.lock`;
  }
}

function writeHolder(slot: Slot, holder: Holder | undefined): void {
  if (!slot.file) return;
  const text = holder ? JSON.stringify({ ...holder, purpose: holder.purpose.slice(0, 200) }) : '';
  try {
    writeSync(slot.file.holder, `${text}\n`, 0);
  } catch {
    // A full disk must not keep anyone from working: only a message is poorer.
  }
}

function closeFile(slot: Slot): void {
  if (!slot.file) return;
  slot.file.lock.close();
  closeSync(slot.file.holder);
  delete slot.file;
}

function busy(slot: Slot, holder: Holder | undefined, waitMs: number): LitterboxError {
  const by = holder ? `process ${holder.pid} (${holder.purpose})` : 'another process';
  return new LitterboxError(
    'BUSY',
    `${shown(slot.resource)} is in use by ${by} and was not free within ${waitMs} ms.`,
    {
      operation: 'state.lease',
      hint:
        holder && holder.pid !== process.pid
          ? `Try again when it is done; if it hangs, look at it with \`ps ${holder.pid}\` and end it.`
          : 'Try again when it is done.',
      facts: {
        resource: slot.resource,
        waitMs,
        ...(holder && {
          holderPid: holder.pid,
          holderPurpose: holder.purpose,
          isOwn: holder.pid === process.pid,
        }),
      },
    },
  );
}
