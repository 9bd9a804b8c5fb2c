import { failpoint } from '../../domain/errors/failpoint.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import { revisionMessage } from '../../domain/sandbox/revision-message.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { Heap } from '../../ports/machine/heap.ts';
import { type Revision } from '../../ports/source-control/sandbox-histories.ts';
import { type SourceRepository } from '../../ports/source-control/source-control.ts';
import type { SandboxRecord, StateStore, UnrecordedFiles } from '../../ports/state/state-store.ts';
import { leaseSandbox } from '../common/lease-sandbox.ts';
import { audited } from '../common/audited.ts';
import { currentRecord } from '../common/change-record.ts';
import { revisionBefore } from './revision-before.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import { putFiles } from '../../inside/put-files.ts';
import type { RecordRevision } from '../record/record-revision.ts';

/** The result of going back: the revision that says so. */
export interface RestoreResult {
  /** Absent when the sandbox was at that revision already. */
  readonly revision?: Revision;
  /** Files that could not be recorded, and that are as they were. */
  readonly unrecorded?: UnrecordedFiles;
}

/** The revision that an undo went back to, and the one that says so. */
export interface UndoResult extends RestoreResult {
  /** Number of the revision whose files the sandbox has now; 0 is the base. */
  readonly target: number;
}

/** Which files are put back, and where. */
interface WayBack {
  readonly repository: SourceRepository;
  readonly record: SandboxRecord;
  readonly opened: OpenedSandbox;
  readonly target: Revision;
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly openSandboxes: OpenSandboxes;
  readonly recordRevision: RecordRevision;
  readonly heap: Heap;
  readonly actor: string;
}

/**
 * Puts a sandbox's workspace to a revision (`restore`), or to the one before its last change (`undo`). History only grows. The files that
 * differ are changed inside the running sandbox: ignored files, home and playground stay.
 */
export class RestoreRevision {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async restore(name: string, wanted: string, options?: ProgressOptions): Promise<RestoreResult> {
    return await this.#needs.heap.lean(() => this.#restore(name, wanted, options));
  }

  async #restore(name: string, wanted: string, options?: ProgressOptions): Promise<RestoreResult> {
    const found = await this.#needs.findSandbox.find(name, options);
    const repository = await this.#needs.openRepository.open(options);
    await using _lease = await leaseSandbox(this.#needs.state, found, `restore ${wanted}`, options);
    const target = await repository.resolve(found.id, wanted, options);
    const current = await currentRecord(this.#needs.state, found, options);
    const opened = await this.#needs.openSandboxes.get(current, options);
    return await audited(
      this.#needs.audit,
      {
        operation: 'sandbox-restore',
        actor: this.#needs.actor,
        repositoryId: current.repositoryId,
        sandbox: current.id,
        input: { revision: target.commit },
      },
      async () => {
        const record = await this.#needs.recordRevision.recordUnrecorded(current, opened, options);
        return await this.#wentBack('restore', { repository, record, opened, target }, options);
      },
    );
  }

  /**
   * Puts the workspace to what it was before its last change. What no call recorded is recorded first, and is the last change then.
   *
   * @throws LitterboxError `NOTHING_TO_DO` when it has the files that it began with
   */
  async undo(name: string, options?: ProgressOptions): Promise<UndoResult> {
    return await this.#needs.heap.lean(() => this.#undo(name, options));
  }

  async #undo(name: string, options?: ProgressOptions): Promise<UndoResult> {
    const found = await this.#needs.findSandbox.find(name, options);
    const repository = await this.#needs.openRepository.open(options);
    await using _lease = await leaseSandbox(this.#needs.state, found, 'undo', options);
    const current = await currentRecord(this.#needs.state, found, options);
    const opened = await this.#needs.openSandboxes.get(current, options);
    return await audited(
      this.#needs.audit,
      {
        operation: 'sandbox-undo',
        actor: this.#needs.actor,
        repositoryId: current.repositoryId,
        sandbox: current.id,
        input: {},
      },
      async () => {
        const record = await this.#needs.recordRevision.recordUnrecorded(current, opened, options);
        const target = await revisionBefore(repository, record, options);
        const result = await this.#wentBack('undo', { repository, record, opened, target }, options);
        return { ...result, target: target.number };
      },
    );
  }

  async #wentBack(
    tool: 'restore' | 'undo',
    { repository, record, opened, target }: WayBack,
    options?: ProgressOptions,
  ): Promise<RestoreResult> {
    const { tip } = await repository.history(record.id, options);
    if (tip.tree === target.tree) return record.unrecorded ? { unrecorded: record.unrecorded } : {};
    options?.onProgress?.({ step: 'files', message: 'Putting the files back' });
    // Files first: what is interrupted here is found by the next call and recorded as what it is.
    await this.#putBack(opened, repository, record.id, { from: tip, to: target }, options);
    const message = revisionMessage({ tool, subject: `revision ${target.number}`, sandbox: record.slug });
    failpoint('restore.after-files');
    const revision = await repository.restore(record.id, target.commit, message);
    failpoint('restore.after-revision');
    // Finds what the revision holds already, and moves the mark on.
    const { unrecorded } = await this.#needs.recordRevision.settle(record, opened);
    return { ...(revision && { revision }), ...(unrecorded && { unrecorded }) };
  }

  /** A method of its own, so that none of its lists lives while the result is recorded. */
  async #putBack(
    { runtime }: OpenedSandbox,
    repository: SourceRepository,
    id: SandboxId,
    { from, to }: { readonly from: Revision; readonly to: Revision },
    options?: ProgressOptions,
  ): Promise<void> {
    const changes = await repository.changes(id, { ...options, revision: to.commit, against: from.commit });
    const paths = (isRemoved: boolean) =>
      changes.filter(({ status }) => (status === 'deleted') === isRemoved).map(({ path }) => path);
    const written = paths(false);
    const archive = repository.tree(to.tree, { ...options, paths: new Set(written) });
    await putFiles(runtime, { written, removed: paths(true), archive }, options);
  }
}
