import { isLitterboxError } from '../../domain/errors/errors.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { ProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { JournalEntry, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import type { AskProviders, ProviderAnswer } from '../common/ask-providers.ts';
import type { DeleteSandbox } from '../remove/delete-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import type { RestoreRecords } from './restore-records.ts';
import type { RecoverSandbox } from './recover-sandbox.ts';
import { RESTORING_SNAPSHOT, type RestoreSnapshot } from './restore-snapshot.ts';
import { INSTALLING } from '../prepare/install-image.ts';
import { ephemeralLease } from '../common/ephemeral-lease.ts';
import { listRuntimes } from '../common/list-runtimes.ts';
import { settleRunState } from '../common/settle-run-state.ts';

interface Needs {
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly openSandboxes: OpenSandboxes;
  readonly deleteSandbox: DeleteSandbox;
  readonly recoverSandbox: RecoverSandbox;
  readonly restoreSnapshot: RestoreSnapshot;
  readonly restoreRecords: RestoreRecords;
  readonly askProviders: AskProviders;
}

/**
 * Finishes or undoes what killed processes of this user left half-done in this repository: an interrupted create is undone,
 * an interrupted delete, rebuild or restore of a snapshot is finished, an interrupted apply or merge is finished or rolled back, and after an interrupted
 * pause the record says what the runtime is; ephemeral sandboxes of programs that ended are deleted; records that were lost are made anew. Cheap when there is nothing.
 */
export class Reconcile {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The repairs, one sentence each. */
  async reconcile(options?: CallOptions): Promise<readonly string[]> {
    const repository = await this.#needs.openRepository.open(options);
    const done = [
      ...(await repository.reconcile(options)),
      ...(await this.#needs.restoreRecords.restore(repository, options)),
    ];
    failpoint('reconcile.after-repository');
    const interrupted = await this.#needs.state.interrupted(options);
    const answers = await this.#answers(interrupted, repository, options);
    const sentences = new Set(done);
    for (const entry of interrupted) {
      const sentence = await this.#settle(entry, answers, options);
      if (sentence === undefined || sentences.has(sentence)) continue; // a sandbox may have several
      sentences.add(sentence);
      done.push(sentence);
    }
    done.push(...(await this.#removeEphemeral(repository, options)));
    return done;
  }

  /** Those whose program has ended. One in which a call of another program is at work goes the next time. */
  async #removeEphemeral(repository: SourceRepository, options?: CallOptions): Promise<readonly string[]> {
    const done: string[] = [];
    for (const { id, isEphemeral } of await this.#needs.state.list(repository.id, options)) {
      if (!isEphemeral) continue;
      try {
        await using _hold = await this.#needs.state.lease(ephemeralLease(id), 'reconcile', { ...options, waitMs: 0 });
        await using _lease = await this.#needs.state.lease(`sandbox:${id}`, 'reconcile', { ...options, waitMs: 0 });
        const record = await this.#needs.state.get(id, options);
        if (!record) continue;
        await this.#needs.deleteSandbox.removeAll(record, repository);
        done.push(`Deleted the ephemeral sandbox ${record.slug}: its program has ended.`);
      } catch (error) {
        if (!isLitterboxError(error)) throw error;
        if (error.code !== 'BUSY') done.push(`Litterbox could not delete an ephemeral sandbox yet: ${error.message}`);
      }
    }
    return done;
  }

  /** Whether those answer that have what was interrupted here. Asked once and together, so that one that is down holds nobody up. */
  async #answers(
    interrupted: readonly JournalEntry[],
    { id }: SourceRepository,
    options?: CallOptions,
  ): Promise<Answers> {
    const keys: ProviderKey[] = [];
    for (const { sandbox, operation, step } of interrupted) {
      const record = sandbox && (await this.#needs.state.get(sandbox, options));
      if (record?.repositoryId === id) keys.push(record.provider);
      else if (!record && operation === INSTALLING) keys.push(step);
    }
    return await this.#needs.askProviders.each(keys, listRuntimes, options);
  }

  async #settle(entry: JournalEntry, answers: Answers, options?: CallOptions): Promise<string | undefined> {
    const record = entry.sandbox && (await this.#needs.state.get(entry.sandbox, options));
    if (!record) {
      if (entry.operation === INSTALLING) return await this.#clearInstaller(entry, answers);
      await this.#needs.state.end(entry.id);
      return undefined;
    }
    const repository = await this.#needs.openRepository.open(options);
    if (record.repositoryId !== repository.id) return undefined; // settled when that repository is opened
    await using _lease = await this.#needs.state.lease(`sandbox:${record.id}`, 'reconcile', options);
    try {
      const sentence = await this.#finish(entry, record, answers);
      failpoint('reconcile.before-end');
      await this.#needs.state.end(entry.id);
      return sentence;
    } catch (error) {
      // Its provider is not here, or is down: the entry stays for the next time, and the sandbox shows in `list`.
      if (isLitterboxError(error)) return `Litterbox could not remove the sandbox ${record.slug} yet: ${error.message}`;
      throw error;
    }
  }

  /** The place in which a process that was killed installed something into an image. */
  async #clearInstaller({ id, sandbox, step }: JournalEntry, answers: Answers): Promise<string> {
    try {
      assertAnswers(answers, step);
      if (sandbox !== undefined) await (await this.#needs.openSandboxes.providerOf({ provider: step })).remove(sandbox);
      await this.#needs.state.end(id);
      return 'Removed the leftovers of an interrupted installation.';
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
      return `Litterbox could not remove the leftovers of an interrupted installation yet: ${error.message}`;
    }
  }

  async #finish(entry: JournalEntry, record: SandboxRecord, answers: Answers): Promise<string | undefined> {
    if (entry.operation === 'sandbox-rebuild') {
      assertAnswers(answers, record.provider);
      await this.#needs.recoverSandbox.rebuild(record);
      return `Finished the interrupted rebuild of ${record.slug}.`;
    }
    if (entry.operation === RESTORING_SNAPSHOT) {
      assertAnswers(answers, record.provider);
      return await this.#needs.restoreSnapshot.finishInterrupted(entry, record);
    }
    if (entry.operation === 'sandbox-run-state') {
      assertAnswers(answers, record.provider);
      const state = await settleRunState(this.#needs.state, await this.#needs.openSandboxes.providerOf(record), record);
      return state && `The sandbox ${record.slug} is ${state}: the change of its state was interrupted.`;
    }
    // One that is being deleted was undone already when that was interrupted too.
    const isUnfinishedCreate =
      entry.operation === 'sandbox-create' && (record.state === 'creating' || record.state === 'deleting');
    if (!isUnfinishedCreate && !(entry.operation === 'sandbox-delete' && record.state === 'deleting')) return undefined;
    assertAnswers(answers, record.provider);
    await this.#needs.deleteSandbox.removeAll(record, await this.#needs.openRepository.open());
    return isUnfinishedCreate
      ? `Undid the interrupted creation of ${record.slug}.`
      : `Finished the interrupted deletion of ${record.slug}.`;
  }
}

type Answers = ReadonlyMap<ProviderKey, ProviderAnswer<unknown>>;

/** What is done to a sandbox of a provider that does not answer would wait for it, or be half done. Other failures are told by who meets them. */
function assertAnswers(answers: Answers, provider: ProviderKey): void {
  const answer = answers.get(provider);
  if (answer?.state === 'unreachable' || answer?.state === 'late') throw answer.error;
}
