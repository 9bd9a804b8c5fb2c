import {
  listSnapshots,
  type Parsed,
  removeSnapshot,
  restoreSnapshot,
  type SnapshotUsage,
  takeSnapshot,
  visibleName,
} from '@litterbox/core';
import type { Context } from '../context.ts';
import { ago, bytes, table } from '../terminal/table.ts';

async function create(context: Context, input: Parsed<typeof takeSnapshot>): Promise<void> {
  const { talk, signal } = context;
  const taken = await (await context.settled()).perform(takeSnapshot, input, { signal, onProgress: talk.progress });
  for (const warning of taken.warnings) talk.warning(warning);
  if (talk.json) return talk.document(takeSnapshot.document?.(taken));
  const { label, revision } = taken.note;
  talk.notice(`The snapshot ${label} holds ${input.sandbox} at revision ${revision}, ignored files and home included.`);
  talk.result(label);
}

async function list(context: Context, input: Parsed<typeof listSnapshots>): Promise<void> {
  const { talk, signal } = context;
  const snapshots = await (await context.litterbox()).perform(listSnapshots, input, { signal });
  if (talk.json) return talk.document(listSnapshots.document?.(snapshots));
  if (snapshots.length === 0) return talk.notice(`No snapshots. Take one: litterbox snapshot create ${input.sandbox}.`);
  const rows = snapshots.map(({ name, takenAtMs, note, usage }) => [
    note?.label ?? visibleName(name),
    note ? String(note.revision) : '',
    ago(takenAtMs),
    usage ? taken(usage) : '',
  ]);
  talk.result(table(['LABEL', 'REVISION', 'TAKEN', 'TAKES'], rows, process.stdout.isTTY));
}

/** Where nobody knows what a snapshot shares, it takes no more than all of it. */
function taken({ diskBytes, ownBytes }: SnapshotUsage): string {
  return ownBytes === undefined ? `at most ${bytes(diskBytes)}` : bytes(ownBytes);
}

async function restore(context: Context, input: Parsed<typeof restoreSnapshot>): Promise<void> {
  const { talk, signal } = context;
  const restored = await (await context.settled()).perform(restoreSnapshot, input, {
    signal,
    onProgress: talk.progress,
  });
  if (talk.json) return talk.document(restoreSnapshot.document?.(restored));
  const { record, label, revision } = restored;
  const told = revision ? `, as revision ${revision.number}` : '; its files that git tracks were the same';
  talk.notice(`Restored workspace and home of ${record.slug} from the snapshot ${label}${told}.`);
  if (record.state === 'stopped') talk.notice(`It is stopped. To continue: litterbox resume ${record.slug}.`);
}

async function remove(context: Context, input: Parsed<typeof removeSnapshot>): Promise<void> {
  const { talk, signal } = context;
  const removed = await (await context.settled()).perform(removeSnapshot, input, { signal, onProgress: talk.progress });
  if (talk.json) return talk.document(removeSnapshot.document?.(removed));
  talk.notice(`Removed the snapshot ${removed.note?.label ?? visibleName(removed.name)} of ${input.sandbox}.`);
}

export const presented = {
  'snapshot-create': { operation: takeSnapshot, present: create },
  'snapshot-list': { operation: listSnapshots, present: list },
  'snapshot-restore': { operation: restoreSnapshot, present: restore },
  'snapshot-remove': { operation: removeSnapshot, present: remove },
} as const;
