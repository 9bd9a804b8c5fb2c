import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { isLitterboxError, type ObjectId, failpoint } from '@litterbox/core/provider';
import { PackWriter } from '../objects/pack-writer.ts';
import type { RefFiles } from '../objects/ref-files.ts';
import { type JournalEntry, type JournalledObject, possibleRefs } from '../objects/revision-journal.ts';
import type { Store } from './store.ts';

/** Makes durable by itself what the journal holds: its objects as one pack, its refs; then empties it. Repeatable. */
export async function settleJournal(store: Store, signal?: AbortSignal): Promise<void> {
  const before = store.journal.read();
  if (before.length === 0) return;
  await writePack(store, before); // most of the work, and others go on meanwhile
  const settled = await store.lock.hold(
    'journal.settle',
    async () => {
      const entries = store.journal.read();
      const packed = new Set(before.map(({ checksum }) => checksum));
      const later = entries.filter(({ checksum }) => !packed.has(checksum));
      if (later.length > 0) await writePack(store, later);
      failpoint('journal.after-pack');
      for (const [name, value] of outstanding(store.refs, entries, true)) {
        if (value === undefined) await store.refs.remove(name);
        else await store.refs.write(name, value);
      }
      failpoint('journal.before-clear');
      await store.journal.clear();
      return [...before, ...later];
    },
    { signal },
  );
  // They are in a pack now; what is left when we are killed here is there twice.
  for (const { objects } of settled) for (const { oid } of objects) rmSync(loosePath(store, oid), { force: true });
}

/**
 * Brings objects and refs to where the journal says they are. After a power cut they may not be; in a running system they are,
 * and nothing is written.
 *
 * @returns whether there was something to do
 */
export async function recoverJournal(store: Store, signal?: AbortSignal): Promise<boolean> {
  if (isWhole(store, store.journal.read())) return false;
  // Whoever is recording at this moment has not yet come to the refs.
  if (await store.lock.hold('journal.recover', async () => isWhole(store, store.journal.read()), { signal }))
    return false;
  await settleJournal(store, signal);
  return true;
}

/** Whether all refs are for certain where the journal says. */
export const areRefsWhole = (refs: RefFiles, journal: string): boolean =>
  outstanding(refs, possibleRefs(journal), false).size === 0;

function isWhole(store: Store, entries: readonly JournalEntry[]): boolean {
  return (
    outstanding(store.refs, entries, false).size === 0 &&
    entries.every(({ objects }) => objects.every((object) => holdsLoose(store, object)))
  );
}

/**
 * What refs have to be: the last value that the journal names. One that has a value the journal does not know was changed
 * durably since, and is left alone; so is one of a sandbox that is gone, which the journal knows of those that began or were removed lately.
 *
 * @param all also those that are so already, which the disk need not know
 */
function outstanding(
  refs: RefFiles,
  entries: readonly Pick<JournalEntry, 'refs'>[],
  all: boolean,
): Map<string, ObjectId | undefined> {
  const last = new Map<string, ObjectId | undefined>();
  const known = new Map<string, Set<ObjectId | undefined>>();
  for (const { refs: changed } of entries)
    for (const { name, old, value } of changed) {
      last.set(name, value);
      const values = known.get(name) ?? new Set([undefined]);
      known.set(name, values.add(old).add(value));
    }
  const begun = new Map(last);
  const hasHistory = (meta: string) => (begun.has(meta) ? begun.get(meta) : readable(refs, meta)) !== undefined;
  for (const [name, value] of last) {
    const now = readable(refs, name);
    const meta = `${dirname(name)}/meta`;
    const isOurs = known.get(name)?.has(now) && (name === meta || hasHistory(meta));
    if (!isOurs || (!all && now === value)) last.delete(name);
  }
  return last;
}

/** Nothing for a ref that is damaged: a power cut may leave it empty. */
function readable(refs: RefFiles, name: string): ObjectId | undefined {
  try {
    return refs.read(name);
  } catch (error) {
    if (isLitterboxError(error, 'STORE_CORRUPT')) return undefined;
    throw error;
  }
}

function holdsLoose(store: Store, { oid, type, bytes }: JournalledObject): boolean {
  try {
    const found = inflateSync(readFileSync(loosePath(store, oid)));
    const header = Buffer.from(`${type} ${bytes.length}\0`);
    return found.length === header.length + bytes.length && found.subarray(header.length).equals(bytes);
  } catch {
    return false; // not there, or cut off
  }
}

async function writePack(store: Store, entries: readonly JournalEntry[]): Promise<void> {
  if (entries.every(({ objects }) => objects.length === 0)) return;
  using pack = new PackWriter(join(store.gitDirectory, 'objects', 'pack'), store.format);
  for (const { objects } of entries) for (const { oid, type, bytes } of objects) pack.put(oid, type, bytes);
  await pack.finish();
}

const loosePath = (store: Store, oid: ObjectId) => join(store.gitDirectory, 'objects', oid.slice(0, 2), oid.slice(2));
