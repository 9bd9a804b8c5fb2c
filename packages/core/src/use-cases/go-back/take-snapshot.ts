import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import { revisionMessage } from '../../domain/sandbox/revision-message.ts';
import { type Slug, slugify } from '../../domain/sandbox/slug.ts';
import { snapshotId } from '../../domain/text/snapshot-id.ts';
import { formatSnapshotNote, type SnapshotNote } from '../../domain/sandbox/snapshot-note.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { SnapshotName, SnapshotProvider } from '../../ports/sandbox/snapshot-provider.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { leaseSandbox } from '../common/lease-sandbox.ts';
import { audited } from '../common/audited.ts';
import { currentRecord } from '../common/change-record.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { isPausedOrStopped } from '../common/is-paused-or-stopped.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import { assertWhole, type OpenSandboxes } from '../session/open-sandboxes.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { RecordRevision } from '../record/record-revision.ts';
import { type SandboxSnapshot, snapshotsOf, snapshotsPortOf } from '../common/sandbox-snapshots.ts';

/** The snapshot, and what a person should hear about it. */
export interface TakeSnapshotResult {
  /** Its name for programs, wherever they name it: `create({ from })`. */
  readonly id: string;
  /** The provider's name for it. */
  readonly name: SnapshotName;
  /** The snapshot. */
  readonly note: SnapshotNote;
  /** Sentences for a person about what the snapshot does not hold. */
  readonly warnings: readonly string[];
}

/** A loop that takes snapshots ends here, before the disk does. */
const MAX_SNAPSHOTS = 50;
/** A program that writes all the time would have it taken for ever. */
const MAX_TAKES = 3;

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly openSandboxes: OpenSandboxes;
  readonly recordRevision: RecordRevision;
  readonly actor: string;
}

/**
 * Takes a snapshot of a sandbox: workspace and home with all they hold, whatever source control thinks of it. What no call has recorded is
 * recorded first, so that the revision that the snapshot names has what it holds. A paused or stopped sandbox is taken as it is.
 */
export class TakeSnapshot {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * @param wanted the label; without one it is the first free of s1, s2 …
   * @throws LitterboxError `ALREADY_EXISTS` when a snapshot has the label, `RESOURCE_EXHAUSTED` when there are too many, `UNSUPPORTED`
   */
  async take(name: string, wanted: string | undefined, options?: ProgressOptions): Promise<TakeSnapshotResult> {
    const found = await this.#needs.findSandbox.find(name, options);
    await using _lease = await leaseSandbox(this.#needs.state, found, 'snapshot', options);
    const record = await currentRecord(this.#needs.state, found, options);
    assertWhole(record);
    const port = snapshotsPortOf(await this.#needs.openSandboxes.providerOf(record, options), record);
    const label = labelOf(wanted, await snapshotsOf(port, record.id, options), record);
    return await audited(
      this.#needs.audit,
      {
        operation: 'snapshot-create',
        actor: this.#needs.actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input: { label },
      },
      async () => {
        const result = await this.#takeWhole(record, port, label, options);
        await this.#needs.state.publish({
          type: 'snapshot-taken',
          repositoryId: record.repositoryId,
          sandbox: record.id,
          data: { label, revision: result.note.revision },
        });
        return result;
      },
    );
  }

  async #takeWhole(
    current: SandboxRecord,
    port: SnapshotProvider,
    label: Slug,
    options?: ProgressOptions,
  ): Promise<TakeSnapshotResult> {
    const repository = await this.#needs.openRepository.open(options);
    const opened = isPausedOrStopped(current) ? undefined : await this.#needs.openSandboxes.get(current, options);
    let { record } = opened ? await this.#recordUnrecorded(current, opened, options) : { record: current };
    for (let take = 1; ; take++) {
      const { tip } = await repository.history(record.id, options);
      const note = { label, revision: tip.number, commit: tip.commit };
      options?.onProgress?.({ step: 'snapshot', message: 'Copying workspace and home' });
      const name = await port.take(record.id, { note: formatSnapshotNote(note), signal: options?.signal });
      failpoint('snapshot.after-take');
      // Changes since the recording may be in the snapshot, and are not in the revision that it names.
      const again = opened && (await this.#recordUnrecorded(record, opened, options));
      const id = snapshotId(record.id, name);
      if (!again?.isChanged) return { id, name, note, warnings: [] };
      if (take === MAX_TAKES) return { id, name, note, warnings: [unsteady(record.slug, label, tip.number)] };
      ({ record } = again);
      await port.remove(name);
    }
  }

  async #recordUnrecorded(
    before: SandboxRecord,
    opened: OpenedSandbox,
    options?: ProgressOptions,
  ): Promise<{ readonly record: SandboxRecord; readonly isChanged: boolean }> {
    const message = revisionMessage({
      tool: 'recovered',
      subject: 'changes found by a snapshot',
      sandbox: before.slug,
    });
    const { record, result } = await this.#needs.recordRevision.record(before, opened, message, options);
    return { record, isChanged: result.revision !== undefined };
  }
}

/** @throws LitterboxError `ALREADY_EXISTS`, `RESOURCE_EXHAUSTED`, and what `slugify` throws */
function labelOf(wanted: string | undefined, snapshots: readonly SandboxSnapshot[], { slug }: SandboxRecord): Slug {
  const taken = new Set(snapshots.map(({ note }) => note?.label));
  const oldest = snapshots[0]?.note?.label ?? snapshots[0]?.name;
  if (snapshots.length >= MAX_SNAPSHOTS)
    throw new LitterboxError(
      'RESOURCE_EXHAUSTED',
      `The sandbox ${slug} has ${snapshots.length} snapshots; at most ${MAX_SNAPSHOTS} are kept.`,
      {
        operation: 'sandbox.snapshot',
        hint: advice`Remove one that you do not need, such as the oldest: ${step('snapshot-remove', { sandbox: slug, snapshot: oldest ?? '' })}.`,
        facts: { snapshots: snapshots.length, limit: MAX_SNAPSHOTS },
      },
    );
  if (wanted === undefined) return freeLabel(taken);
  const { slug: label } = slugify(wanted);
  if (!taken.has(label)) return label;
  throw new LitterboxError('ALREADY_EXISTS', `The sandbox ${slug} has a snapshot ${label} already.`, {
    operation: 'sandbox.snapshot',
    hint: advice`Choose another label, or remove it: ${step('snapshot-remove', { sandbox: slug, snapshot: label })}.`,
  });
}

function freeLabel(taken: ReadonlySet<Slug | undefined>): Slug {
  for (let number = 1; ; number++) {
    const { slug } = slugify(`s${number}`);
    if (!taken.has(slug)) return slug;
  }
}

function unsteady(slug: Slug, label: Slug, revision: number): string {
  return `Something in ${slug} writes all the time: the snapshot ${label} may hold more than revision ${revision}. Pause the sandbox before you take one.`;
}
