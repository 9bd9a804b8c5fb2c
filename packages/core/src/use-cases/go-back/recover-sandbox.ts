import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { Revision } from '../../ports/source-control/sandbox-histories.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { RuntimeStatus, SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { leaseSandbox } from '../common/lease-sandbox.ts';
import { audited } from '../common/audited.ts';
import type { BringArtefacts } from '../decide/bring-artefacts.ts';
import { changeRecord, currentRecord } from '../common/change-record.ts';
import { runtimeState } from '../common/runtime-state.ts';
import { specOf } from '../decide/spec-of.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import { isPausedOrStopped } from '../common/is-paused-or-stopped.ts';
import { driftOf } from '../session/live-tree.ts';
import type { InstallImage } from '../prepare/install-image.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { RecordRevision } from '../record/record-revision.ts';
import type { ReachKeeper } from '../keeper/reach-keeper.ts';
import type { SetUpSandbox } from '../prepare/set-up-sandbox.ts';

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
  readonly actor: string;
}

/**
 * Rebuilds the runtime of a sandbox from its last revision and sets it up again. Of what was never recorded only the playground stays. A
 * killed process leaves a journal entry, by which `reconcile` goes on; after an error the next `recover` does.
 */
export class RecoverSandbox {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
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

  /** Records the changes of a sandbox that still answers before it goes. One that is paused or stopped counts as well. */
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
      await this.#removeRuntime(record, provider);
      failpoint('rebuild.after-remove');
      return await this.#make(await currentRecord(this.#needs.state, record, options), options);
    } finally {
      await this.#needs.state.end(journal.id);
    }
  }

  async #make(record: SandboxRecord, options?: ProgressOptions): Promise<SandboxRecord> {
    const repository = await this.#needs.openRepository.open(options);
    const { tip } = await repository.history(record.id, options);
    const { policy, opened } = await this.#replaceRuntime(record, { repository, tip }, options);
    // No mark: the new runtime counts from the new base, which is the tip. Killed from here on, its setup did not succeed.
    const assurance = await opened.runtime.assurance(options);
    const state = record.policy.setup.length > 0 ? 'setup-failed' : 'ready';
    const rebuilt = await changeRecord(this.#needs.state, record, () => ({
      mark: null,
      state,
      assurance,
      policy,
      replacements: replacementsOf(record),
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

  /** Removes the runtime that a killed process made meanwhile, and makes one on the files of the tip. */
  async #replaceRuntime(
    record: SandboxRecord,
    { repository, tip }: { readonly repository: SourceRepository; readonly tip: Revision },
    options?: ProgressOptions,
  ): Promise<{ readonly policy: Policy; readonly opened: OpenedSandbox }> {
    const provider = await this.#needs.openSandboxes.providerOf(record);
    await this.#removeRuntime(record, provider);
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
    const adopted = { ...record, policy, replacements: replacementsOf(record) };
    const opened = await this.#needs.openSandboxes.adopt(adopted, runtime, options);
    return { policy, opened };
  }

  async #removeRuntime(record: SandboxRecord, provider: SandboxProvider): Promise<void> {
    await this.#needs.reachKeeper.end(record, false);
    await this.#needs.openSandboxes.close(record.id);
    await provider.remove(record.id, { keepPlayground: true });
  }
}

/** How often its runtime was replaced, this time included. */
const replacementsOf = ({ replacements = 0 }: SandboxRecord): number => replacements + 1;

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
