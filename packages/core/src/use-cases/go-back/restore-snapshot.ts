import { isLitterboxError } from '../../domain/errors/errors.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import { revisionMessage } from '../../domain/sandbox/revision-message.ts';
import type { Slug } from '../../domain/sandbox/slug.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { Revision } from '../../ports/source-control/sandbox-histories.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { JournalEntry, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { leaseSandbox } from '../common/lease-sandbox.ts';
import { audited } from '../common/audited.ts';
import { changeRecord, currentRecord } from '../common/change-record.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { assertWhole, type OpenSandboxes } from '../session/open-sandboxes.ts';
import { isPausedOrStopped } from '../common/is-paused-or-stopped.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { ReachKeeper } from '../keeper/reach-keeper.ts';
import type { RecordRevision } from '../record/record-revision.ts';
import { noted, type NotedSnapshot, snapshotNamed, snapshotsOf, snapshotsPortOf } from '../common/sandbox-snapshots.ts';
import { settleRunState } from '../common/settle-run-state.ts';

/** The result of going back to a snapshot. */
export interface RestoreSnapshotResult {
  /** The sandbox afterwards. */
  readonly record: SandboxRecord;
  /** The snapshot that was restored. */
  readonly label: Slug;
  /** The revision that says so. Absent when the files that source control counts were the snapshot's already. */
  readonly revision?: Revision;
}

/** Operation of the journal. */
export const RESTORING_SNAPSHOT = 'snapshot-restore';

/** A pause that came meanwhile: pausing takes no lease. */
const AT_REST: ReadonlySet<string> = new Set(['SANDBOX_PAUSED', 'SANDBOX_STOPPED']);

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly openSandboxes: OpenSandboxes;
  readonly recordRevision: RecordRevision;
  readonly reachKeeper: ReachKeeper;
  readonly actor: string;
}

/**
 * Puts workspace and home of a sandbox back to a snapshot, files that are ignored included; the playground stays. What it runs ends.
 * What no call has recorded is recorded first, and going back is a revision: history only grows. A sandbox that is paused or stopped is
 * stopped afterwards.
 *
 * The steps of the journal: `runtime NAME` while the provider restores, which is repeated after a kill; `history NAME` from then on.
 */
export class RestoreSnapshot {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * @param wanted the label
   * @throws LitterboxError `NOT_FOUND`, `UNSUPPORTED` when the provider takes none or something else took it, `REV_NOT_FOUND` when it is
   *   of another history
   */
  async restore(name: string, wanted: string, options?: ProgressOptions): Promise<RestoreSnapshotResult> {
    const found = await this.#needs.findSandbox.find(name, options);
    await using _lease = await leaseSandbox(this.#needs.state, found, `snapshot restore ${wanted}`, options);
    const current = await currentRecord(this.#needs.state, found, options);
    assertWhole(current);
    const provider = await this.#needs.openSandboxes.providerOf(current, options);
    const port = snapshotsPortOf(provider, current);
    const snapshot = noted(snapshotNamed(await snapshotsOf(port, current.id, options), wanted, current), current);
    const repository = await this.#needs.openRepository.open(options);
    await repository.resolve(current.id, snapshot.note.commit, options);
    return await audited(
      this.#needs.audit,
      {
        operation: 'snapshot-restore',
        actor: this.#needs.actor,
        repositoryId: current.repositoryId,
        sandbox: current.id,
        input: { snapshot: snapshot.note.label },
      },
      async () => {
        const record = await this.#recordBefore(current, provider, options);
        return await this.#restoreWithin(record, provider, snapshot, options);
      },
    );
  }

  /**
   * Goes on where a killed process was. The caller holds the lease.
   *
   * @returns what was done, in a sentence
   */
  async finishInterrupted({ step }: JournalEntry, record: SandboxRecord): Promise<string | undefined> {
    if (record.state === 'creating' || record.state === 'deleting') return undefined;
    const [phase, name] = step.split(' ');
    const provider = await this.#needs.openSandboxes.providerOf(record);
    const port = snapshotsPortOf(provider, record);
    const found = (await snapshotsOf(port, record.id)).find((one) => one.name === name);
    if (!found) return `The snapshot that ${record.slug} was being restored to is gone; recover the sandbox by force.`;
    const snapshot = noted(found, record);
    const current = phase === 'runtime' ? await this.#restoreRuntime(record, provider, snapshot) : record;
    await this.#needs.openSandboxes.close(record.id);
    const { record: whole } = await this.#recordRestore(current, provider, snapshot);
    await this.#tell(whole, snapshot);
    return `Finished the interrupted restore of ${record.slug} to the snapshot ${snapshot.note.label}.`;
  }

  async #restoreWithin(
    record: SandboxRecord,
    provider: SandboxProvider,
    snapshot: NotedSnapshot,
    options?: ProgressOptions,
  ): Promise<RestoreSnapshotResult> {
    options?.signal?.throwIfAborted();
    options?.onProgress?.({ step: 'snapshot', message: `Putting workspace and home back to ${snapshot.note.label}` });
    const journal = await this.#needs.state.begin({
      operation: RESTORING_SNAPSHOT,
      sandbox: record.id,
      step: `runtime ${snapshot.name}`,
    });
    failpoint('snapshot-restore.after-journal');
    let cleared: SandboxRecord;
    try {
      cleared = await this.#restoreRuntime(record, provider, snapshot, options);
    } catch (error) {
      await this.#needs.openSandboxes.close(record.id); // what it has open may have ended
      await this.#needs.state.end(journal.id);
      throw error;
    }
    // From here on the history is not that of the files until the end: after a failure, too, `reconcile` has to go on.
    await this.#needs.state.step(journal.id, `history ${snapshot.name}`);
    failpoint('snapshot-restore.after-step');
    await this.#needs.openSandboxes.close(record.id);
    const { record: whole, revision } = await this.#recordRestore(cleared, provider, snapshot);
    await this.#needs.state.end(journal.id);
    await this.#tell(whole, snapshot);
    return { record: whole, label: snapshot.note.label, ...(revision && { revision }) };
  }

  /** What no call has recorded. One that is broken, by a restore that failed, has nothing that could be looked at. */
  async #recordBefore(
    record: SandboxRecord,
    provider: SandboxProvider,
    options?: ProgressOptions,
  ): Promise<SandboxRecord> {
    try {
      if (!isPausedOrStopped(record))
        return await this.#needs.recordRevision.recordUnrecorded(
          record,
          await this.#needs.openSandboxes.get(record, options),
          options,
        );
      const journal = await this.#needs.state.begin({
        operation: 'sandbox-run-state',
        sandbox: record.id,
        step: 'ready',
      });
      try {
        return await this.#recordWhileStopped(record, options);
      } finally {
        await settleRunState(this.#needs.state, provider, record);
        await this.#needs.state.end(journal.id);
      }
    } catch (error) {
      if (isLitterboxError(error, 'SANDBOX_BROKEN')) return record;
      throw error;
    }
  }

  /** It is looked into without what it ran: that does not go on for a moment only to end. */
  async #recordWhileStopped(record: SandboxRecord, options?: ProgressOptions): Promise<SandboxRecord> {
    const runtime = await this.#needs.openSandboxes.runtime(record);
    await runtime.stop(options);
    await runtime.start(options);
    try {
      const saved = await this.#needs.recordRevision.recordUnrecorded(
        record,
        await this.#needs.openSandboxes.get(awake(record), options),
        options,
      );
      failpoint('snapshot-restore.after-waking');
      return saved;
    } finally {
      await runtime.stop();
    }
  }

  async #restoreRuntime(
    record: SandboxRecord,
    provider: SandboxProvider,
    snapshot: NotedSnapshot,
    options?: ProgressOptions,
  ): Promise<SandboxRecord> {
    // First: an old mark would hide what the snapshot brings.
    const cleared = await changeRecord(this.#needs.state, record, () => ({ mark: null }));
    failpoint('snapshot-restore.after-mark');
    await this.#needs.reachKeeper.end(cleared, false);
    await snapshotsPortOf(provider, record).restore(record.id, snapshot.name, { signal: options?.signal });
    failpoint('snapshot-restore.after-runtime');
    return cleared;
  }

  /** The history gets the snapshot's revision first; what the snapshot holds besides is found by a look at everything. */
  async #recordRestore(
    record: SandboxRecord,
    provider: SandboxProvider,
    { note }: NotedSnapshot,
  ): Promise<{ readonly record: SandboxRecord; readonly revision: Revision | undefined }> {
    const repository = await this.#needs.openRepository.open();
    const message = revisionMessage({ tool: 'restore', subject: `snapshot ${note.label}`, sandbox: record.slug });
    const replaced = await changeRecord(this.#needs.state, record, ({ replacements = 0 }) => ({
      mark: null,
      replacements: replacements + 1,
    }));
    failpoint('snapshot-restore.after-record');
    const appended = await repository.restore(record.id, note.commit, message);
    failpoint('snapshot-restore.after-revision');
    const runtime = await this.#needs.openSandboxes.runtime(replaced);
    if (isPausedOrStopped(record)) await runtime.start();
    const { record: seen, revision } = await this.#looked(replaced, message);
    failpoint('snapshot-restore.after-scan');
    if (isPausedOrStopped(record)) await runtime.stop();
    await settleRunState(this.#needs.state, provider, seen);
    const now = await currentRecord(this.#needs.state, seen);
    return { record: now, revision: revision ?? appended };
  }

  async #looked(
    record: SandboxRecord,
    message: ReturnType<typeof revisionMessage>,
  ): Promise<{ readonly record: SandboxRecord; readonly revision?: Revision | undefined }> {
    try {
      const recorded = await this.#needs.recordRevision.record(
        record,
        await this.#needs.openSandboxes.get(awake(record)),
        message,
      );
      return { record: recorded.record, revision: recorded.result.revision };
    } catch (error) {
      // Somebody paused it meanwhile. Without a mark the next call looks at everything.
      if (isLitterboxError(error) && AT_REST.has(error.code)) return { record };
      throw error;
    }
  }

  async #tell({ id, repositoryId }: SandboxRecord, { note }: NotedSnapshot): Promise<void> {
    await this.#needs.state.publish({
      type: 'snapshot-restored',
      repositoryId,
      sandbox: id,
      data: { label: note.label, revision: note.revision },
    });
  }
}

const awake = (record: SandboxRecord): SandboxRecord =>
  isPausedOrStopped(record) ? { ...record, state: 'ready' } : record;
