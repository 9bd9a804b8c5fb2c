import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import { shown } from '../../domain/text/shown.ts';
import { snapshotId } from '../../domain/text/snapshot-id.ts';
import { parseSnapshotNote, type SnapshotNote } from '../../domain/sandbox/snapshot-note.ts';
import { slugify } from '../../domain/sandbox/slug.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SnapshotName, SnapshotProvider, SnapshotUsage } from '../../ports/sandbox/snapshot-provider.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';

/** A snapshot of a sandbox. */
export interface SandboxSnapshot {
  /** Its name for programs, wherever they name it: `create({ from })`. */
  readonly id: string;
  /** The provider's name for it. */
  readonly name: SnapshotName;
  /** Milliseconds of the wall clock since 1970. */
  readonly takenAtMs: number;
  /** Absent where something else than Litterbox took it. */
  readonly note?: SnapshotNote;
  /** Told by a list alone. */
  readonly usage?: SnapshotUsage;
}

/** A snapshot of which the revision is known. */
export interface NotedSnapshot extends SandboxSnapshot {
  readonly note: SnapshotNote;
}

/** Longest list of labels that an error repeats. */
const MAX_LABELS = 10;

/** @throws LitterboxError `UNSUPPORTED` when the provider cannot take snapshots */
export function snapshotsPortOf(provider: SandboxProvider, { slug }: SandboxRecord): SnapshotProvider {
  if (provider.snapshots) return provider.snapshots;
  throw new LitterboxError('UNSUPPORTED', `The provider ${provider.name} cannot take snapshots.`, {
    operation: 'sandbox.snapshot',
    provider: provider.name,
    hint: advice`Go back to a revision instead: ${step('sandbox-log', { sandbox: slug })}, then ${step('sandbox-restore', { sandbox: slug })}.`,
  });
}

/** The snapshots of one sandbox, oldest first. */
export async function snapshotsOf(
  port: SnapshotProvider,
  id: SandboxId,
  options?: CallOptions,
): Promise<readonly SandboxSnapshot[]> {
  const found: SandboxSnapshot[] = [];
  for await (const { name, sandbox, takenAtMs, note: text } of port.list({ signal: options?.signal })) {
    if (sandbox !== id) continue;
    const note = parseSnapshotNote(text);
    found.push({ id: snapshotId(id, name), name, takenAtMs, ...(note && { note }) });
  }
  return found.toSorted((left, right) => left.takenAtMs - right.takenAtMs);
}

/** The newest of that label, or the one that the provider calls so. @throws LitterboxError `NOT_FOUND` */
export function snapshotNamed(
  snapshots: readonly SandboxSnapshot[],
  wanted: string,
  { slug }: SandboxRecord,
): SandboxSnapshot {
  const isNamed = snapshots.find(({ name }) => name === wanted);
  if (isNamed) return isNamed;
  const { slug: label } = slugify(wanted);
  const found = snapshots.findLast(({ note }) => note?.label === label);
  if (found) return found;
  const labels = snapshots.map(({ name, note }) => note?.label ?? name);
  const more = labels.length - MAX_LABELS;
  throw new LitterboxError('NOT_FOUND', `The sandbox ${slug} has no snapshot ${shown(label)}.`, {
    operation: 'sandbox.snapshot',
    hint:
      labels.length === 0
        ? advice`Take one: ${step('snapshot-create', { sandbox: slug })}.`
        : `There are: ${labels.slice(-MAX_LABELS).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
  });
}

/** Removes all snapshots of a sandbox that goes. */
export async function removeSnapshots({ snapshots: port }: SandboxProvider, id: SandboxId): Promise<void> {
  if (!port) return;
  for (const { name } of await snapshotsOf(port, id)) await port.remove(name);
}

/** One of which the revision is known. @throws LitterboxError `UNSUPPORTED` */
export function noted({ note, ...snapshot }: SandboxSnapshot, { slug }: SandboxRecord): NotedSnapshot {
  if (note) return { ...snapshot, note };
  throw new LitterboxError(
    'UNSUPPORTED',
    `Litterbox did not take the snapshot ${snapshot.name} of ${slug}, so it does not know its revision.`,
    {
      operation: 'snapshot.restore',
      hint: advice`Remove it: ${step('snapshot-remove', { sandbox: slug, snapshot: snapshot.name })}.`,
    },
  );
}

/** One of a sandbox, by label or name, of which the revision is known. @throws LitterboxError `NOT_FOUND`, `UNSUPPORTED` */
export async function notedSnapshot(
  provider: SandboxProvider,
  source: SandboxRecord,
  wanted: string,
): Promise<NotedSnapshot> {
  const snapshots = await snapshotsOf(snapshotsPortOf(provider, source), source.id);
  return noted(snapshotNamed(snapshots, wanted, source), source);
}
