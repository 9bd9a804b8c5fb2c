import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import { revisionMessage } from '../../domain/sandbox/revision-message.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { Heap } from '../../ports/machine/heap.ts';
import { type Revision } from '../../ports/source-control/sandbox-histories.ts';
import { type SourceRepository } from '../../ports/source-control/source-control.ts';
import { type RuntimeStatus } from '../../ports/sandbox/sandbox-provider.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { leaseSandbox } from '../common/lease-sandbox.ts';
import { audited } from '../common/audited.ts';
import type { BringArtefacts } from '../decide/bring-artefacts.ts';
import { changeRecord, currentRecord } from '../common/change-record.ts';
import { revisionBefore } from './revision-before.ts';
import { runtimeState } from '../common/runtime-state.ts';
import { specOf } from '../decide/spec-of.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import { isPausedOrStopped } from '../common/is-paused-or-stopped.ts';
import { driftOf } from '../session/live-tree.ts';
import type { InstallImage } from '../prepare/install-image.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import { putFiles } from '../../inside/put-files.ts';
import type { RecordRevision } from '../record/record-revision.ts';
import type { ReachKeeper } from '../keeper/reach-keeper.ts';
import type { SetUpSandbox } from '../prepare/set-up-sandbox.ts';

/** The result of going back: the revision that says so. */
export interface RestoreResult {
  /** Absent when the sandbox was at that revision already. */
  readonly revision?: Revision;
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
  readonly setUpSandbox: SetUpSandbox;
  readonly installImage: InstallImage;
  readonly bringArtefacts: BringArtefacts;
  readonly reachKeeper: ReachKeeper;
  readonly heap: Heap;
  readonly actor: string;
}

/**
 * Puts a sandbox's workspace to a revision (`restore`), to the one before its last change (`undo`), or rebuilds what it runs in from its
 * last one (`recover`). History only grows.
 *
 * A restore changes the files that differ, inside the running sandbox: what is ignored, home and playground stay. A recovery
 * makes the runtime anew and sets it up again: of what was never recorded only the playground stays.
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
    if (tip.tree === target.tree) return {};
    options?.onProgress?.({ step: 'files', message: 'Putting the files back' });
    // Files first: what is interrupted here is found by the next call and recorded as what it is.
    await this.#putBack(opened, repository, record.id, { from: tip, to: target }, options);
    const message = revisionMessage({ tool, subject: `revision ${target.number}`, sandbox: record.slug });
    failpoint('restore.after-files');
    const revision = await repository.restore(record.id, target.commit, message);
    failpoint('restore.after-revision');
    await this.#needs.recordRevision.recordUnrecorded(record, opened); // finds what the revision holds already, and moves the mark on
    return revision ? { revision } : {};
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

  /**
   * Rebuilds what a sandbox runs in. What it holds beside its revisions and playground goes, so one that works is left as it is, unless
   * the caller means it.
   *
   * @throws LitterboxError `CONFLICT` when it works and `force` is not set, `SANDBOX_BUSY` while it is made or deleted.
   */
  async recover(
    name: string,
    { force = false }: { readonly force?: boolean | undefined },
    options?: ProgressOptions,
  ): Promise<SandboxRecord> {
    const record = await this.#needs.findSandbox.find(name, options);
    if (record.state === 'creating' || record.state === 'deleting') {
      throw new LitterboxError('SANDBOX_BUSY', `The sandbox ${record.slug} is ${record.state}.`, {
        operation: 'sandbox.recover',
        hint: advice`If no program is doing that any more: ${step('sandbox-delete', { sandbox: record.slug, force: true })}.`,
      });
    }
    await using _lease = await leaseSandbox(this.#needs.state, record, 'recover', options);
    return await audited(
      this.#needs.audit,
      {
        operation: 'sandbox-recover',
        actor: this.#needs.actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input: { force },
      },
      async () => {
        const current = await currentRecord(this.#needs.state, record, options);
        const { isWell, saved } = await this.#recordBefore(current);
        if (isWell && !force) throw worksAsItIs(current);
        return await this.#rebuild(saved, options);
      },
    );
  }

  /** What a sandbox that still answers holds and no call recorded is recorded before it goes. One that is put to sleep is well as well. */
  async #recordBefore(record: SandboxRecord): Promise<{ readonly isWell: boolean; readonly saved: SandboxRecord }> {
    const found = await this.#found(record);
    if (found === undefined || found === 'broken') return { isWell: false, saved: record };
    if (isPausedOrStopped(record)) return { isWell: true, saved: record };
    try {
      const opened = await this.#needs.openSandboxes.getDrifted(record);
      const saved = await this.#needs.recordRevision.recordUnrecorded(record, opened);
      // One whose working tree has changed under it goes no further, and is built anew on a frozen tree.
      const drift = await driftOf({ record, runtime: opened.runtime }, await this.#needs.openRepository.open());
      return { isWell: record.state === 'ready' && !drift, saved };
    } catch (error) {
      if (isLitterboxError(error)) return { isWell: false, saved: record };
      throw error;
    }
  }

  /**
   * Not by what this process has open: somebody may have removed it since.
   *
   * @throws LitterboxError `UNAVAILABLE` when the provider cannot be asked: the sandbox may be well.
   */
  async #found(record: SandboxRecord): Promise<RuntimeStatus['state'] | undefined> {
    const provider = await this.#needs.openSandboxes.providerOf(record);
    try {
      return await runtimeState(provider, record.id);
    } catch (error) {
      if (!isLitterboxError(error) || error.code === 'UNAVAILABLE') throw error;
      return 'broken';
    }
  }

  /** Makes the runtime that a killed process was replacing. The caller holds the lease. */
  async rebuild(record: SandboxRecord): Promise<void> {
    await this.#make(record);
  }

  /** After a kill `reconcile` makes the new runtime, after an error `recover`. */
  async #rebuild(record: SandboxRecord, options?: ProgressOptions): Promise<SandboxRecord> {
    const provider = await this.#needs.openSandboxes.providerOf(record);
    options?.onProgress?.({ step: 'runtime', message: 'Rebuilding the sandbox' });
    const journal = await this.#needs.state.begin({
      operation: 'sandbox-rebuild',
      sandbox: record.id,
      step: 'runtime',
    });
    failpoint('rebuild.after-journal');
    try {
      await this.#needs.reachKeeper.end(record, false);
      await this.#needs.openSandboxes.close(record.id);
      await provider.remove(record.id, { keepPlayground: true });
      failpoint('rebuild.after-remove');
      return await this.#make(await currentRecord(this.#needs.state, record, options), options);
    } finally {
      await this.#needs.state.end(journal.id);
    }
  }

  async #make(record: SandboxRecord, options?: ProgressOptions): Promise<SandboxRecord> {
    const repository = await this.#needs.openRepository.open(options);
    const { tip } = await repository.history(record.id, options);
    const provider = await this.#needs.openSandboxes.providerOf(record);
    await this.#needs.reachKeeper.end(record, false);
    await this.#needs.openSandboxes.close(record.id);
    await provider.remove(record.id, { keepPlayground: true }); // what a killed process made meanwhile
    // The image may have gone with the rest. A working tree that it stood on may be anything by now, so that it goes on on a frozen one.
    const { lower: _lower, ...policy } = await this.#needs.installImage.installAgain(
      repository,
      provider,
      record,
      options,
    );
    const wanted = { paths: policy.include ?? [], isWorkTree: false, isStrict: false };
    // An agent's revision is no commit of the person's: of Git LFS it gets what the base has.
    const begun = { commit: record.baseCommit, tree: tip.tree };
    const { artefacts, warnings } = await this.#needs.bringArtefacts.bring(repository, begun, wanted, options);
    for (const message of warnings) options?.onProgress?.({ step: 'runtime', message });
    const spec = await specOf({ ...record, policy }, begun, repository, options);
    const runtime = await provider.create({ ...spec, ...(artefacts && { artefacts }) }, options);
    failpoint('rebuild.after-create');
    const replacements = (record.replacements ?? 0) + 1;
    const opened = this.#needs.openSandboxes.adopt({ id: record.id, replacements }, runtime);
    // No mark: the new runtime counts from the new base, which is the tip. Killed from here on, its setup did not succeed.
    const assurance = await opened.runtime.assurance(options);
    const state = record.policy.setup.length > 0 ? 'setup-failed' : 'ready';
    const rebuilt = await changeRecord(this.#needs.state, record, () => ({
      mark: null,
      state,
      assurance,
      policy,
      replacements,
    }));
    failpoint('rebuild.after-record');
    if (rebuilt.policy.network.setup !== 'none' && rebuilt.policy.setup.length > 0 && tip.commit !== record.baseCommit)
      options?.onProgress?.({
        step: 'setup',
        message: 'Running the setup with its network, over the recorded files',
      });
    const updated = await this.#needs.setUpSandbox.setUp(rebuilt, opened, false, options);
    await this.#needs.reachKeeper.ensure(updated, options);
    await this.#needs.state.publish({
      type: 'sandbox-rebuilt',
      repositoryId: record.repositoryId,
      sandbox: record.id,
      data: { tip: tip.commit },
    });
    return updated;
  }
}

function worksAsItIs({ slug, state }: SandboxRecord): LitterboxError {
  const isAwake = state === 'ready';
  return new LitterboxError(
    'CONFLICT',
    `The sandbox ${slug} ${isAwake ? 'works' : `is ${state}`}: there is nothing to recover.`,
    {
      operation: 'sandbox.recover',
      hint: advice`${isAwake ? advice`To put its files back: ${step('sandbox-restore', { sandbox: slug })}.` : advice`To continue: ${step('sandbox-resume', { sandbox: slug })}.`} To rebuild it anyway, without its home and the files that git ignores: ${step('sandbox-recover', { sandbox: slug, force: true })}.`,
    },
  );
}
