import { isLitterboxError, LitterboxError, type LitterboxErrorCode } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import { shown } from '../../domain/text/shown.ts';
import { slugify } from '../../domain/sandbox/slug.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions, ProgressOptions } from '../../ports/common/call.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { JournalEntry, Lease, SandboxRecord, StateStore, UnrecordedFiles } from '../../ports/state/state-store.ts';
import type { AskProviders } from '../common/ask-providers.ts';
import { CHOICE_MS } from '../decide/choose-provider.ts';
import { audited } from '../common/audited.ts';
import { changeRecord } from '../common/change-record.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { leaseQuietSandbox } from '../common/lease-quiet-sandbox.ts';
import type { ForwardPorts } from '../session/forward-ports.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { ReachKeeper } from '../keeper/reach-keeper.ts';
import { otherHandsIn } from '../session/seat-agent.ts';
import { removeSnapshots } from '../common/sandbox-snapshots.ts';
import { keepUnrecorded, unrecordedText } from '../record/unrecorded-files.ts';
import type { SettleSandbox } from '../record/settle-sandbox.ts';

/** With force a person gives a call that is at work longer to end. */
const FORCE_PATIENCE_MS = 10_000;

type Target = { readonly found: SandboxRecord } & (
  | { readonly repository: SourceRepository; readonly left?: undefined }
  | { readonly repository?: undefined; readonly left: Pick<SourceRepository, 'id' | 'remove'> }
);

const NOT_HERE: ReadonlySet<string> = new Set<LitterboxErrorCode>(['NOT_FOUND', 'NOT_A_REPO', 'SANDBOX_NOT_FOUND']);

function ofGoneRepository({ slug, repositoryRoot }: SandboxRecord): LitterboxError {
  return new LitterboxError(
    'UNMERGED_WORK',
    `The repository of the sandbox ${slug} is not at ${shown(repositoryRoot)} any more, so nothing can be merged into it.`,
    {
      operation: 'sandbox.delete',
      hint: advice`Bring it back if it was moved; else give up what the sandbox holds: ${step('sandbox-delete', { repository: repositoryRoot, sandbox: slug, force: true })}.`,
    },
  );
}

function finishedLater({ slug }: SandboxRecord, cause: LitterboxError): LitterboxError {
  const message = `${cause.message} ${slug} is marked as deleted, and the next create or delete after it answers removes the rest.`;
  return new LitterboxError(cause.code, message, cause.details, { cause });
}

function unrecordedWork({ slug }: SandboxRecord, unrecorded: UnrecordedFiles): LitterboxError {
  return new LitterboxError('UNMERGED_WORK', `${unrecordedText(slug, unrecorded)} No branch has them.`, {
    operation: 'sandbox.delete',
    hint: advice`${keepUnrecorded(slug)} Give them up: ${step('sandbox-delete', { sandbox: slug, force: true })}.`,
    facts: { ...unrecorded },
  });
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly openSandboxes: OpenSandboxes;
  readonly settleSandbox: SettleSandbox;
  readonly reachKeeper: ReachKeeper;
  readonly forwardPorts: ForwardPorts;
  readonly askProviders: AskProviders;
  readonly actor: string;
}

/** Deletes a sandbox with all it holds. Order: mark, runtime, snapshots, history, record; killed half-way, the next call goes on. */
export class DeleteSandbox {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * @param how `force`: also when its work is nowhere else. `forget`: its machine or engine is gone for good, so that nothing is removed there
   * @throws LitterboxError `SANDBOX_ACTIVE` when a call or an agent is at work in it, `UNMERGED_WORK` when work would be lost and `force` is not set,
   * `CONFLICT` when it is to be forgotten although its provider answers, `UNAVAILABLE` when that does not answer
   */
  async delete(
    name: string,
    { force = false, forget = false }: { readonly force?: boolean | undefined; readonly forget?: boolean | undefined },
    options?: ProgressOptions,
  ): Promise<SandboxRecord> {
    const { found, repository, left } = await this.#target(name, options);
    await using _lease = await this.#leaseOf(found, force, options);
    const record = await this.#needs.state.get(found.id, options);
    if (!record) return found; // another process was faster
    if (forget) await this.#assertLost(record, options);
    if (!force && record.state !== 'deleting') {
      await this.#assertNoAgent(record, options);
      if (!repository) throw ofGoneRepository(record);
      const unrecorded = forget ? undefined : await this.#needs.settleSandbox.settle(record, options);
      await this.#assertExpendable(record, repository, options);
      if (unrecorded) throw unrecordedWork(record, unrecorded);
    }
    await audited(
      this.#needs.audit,
      {
        operation: 'sandbox-delete',
        actor: this.#needs.actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input: { force, name: record.slug, ...(forget && { forget }) },
      },
      async () => {
        await this.removeAll(record, repository ?? left, forget).catch((error: unknown) => {
          throw isLitterboxError(error, 'UNAVAILABLE') ? finishedLater(record, error) : error;
        });
      },
    );
    return record;
  }

  /** The sandbox; of a repository that was at this place and is gone too, for nothing else finds that one. */
  async #target(name: string, options?: ProgressOptions): Promise<Target> {
    try {
      return {
        found: await this.#needs.findSandbox.find(name, options),
        repository: await this.#needs.openRepository.open(options),
      };
    } catch (error) {
      if (!isLitterboxError(error) || !NOT_HERE.has(error.code)) throw error;
      const { slug } = slugify(name);
      for await (const left of this.#needs.openRepository.left(options)) {
        const found = await this.#needs.state.find(left.id, slug, options);
        if (found) return { found, left };
      }
      throw error;
    }
  }

  /**
   * The steps themselves. The caller holds the lease and has asked.
   *
   * @param isLost nothing is left that could remove what the provider has
   */
  async removeAll(record: SandboxRecord, repository: Pick<SourceRepository, 'remove'>, isLost = false): Promise<void> {
    const provider = isLost ? undefined : await this.#needs.openSandboxes.providerOf(record); // first: without it nothing begins
    // Two writes wait for the disk: that the record is being deleted, with this entry before it, and that it is gone. A power cut that
    // takes the end of the entry leaves what a kill before that leaves.
    const isLosable = record.state !== 'deleting'; // else nothing follows at once
    const entry = { operation: 'sandbox-delete', sandbox: record.id, step: 'runtime' };
    const journal = await this.#needs.state.begin(entry, { isLosable });
    try {
      await this.#remove(record, repository, provider, journal);
    } catch (error) {
      // The entry of the attempt before is still there. With one more for each that fails there would soon be hundreds.
      if (!isLosable) await this.#needs.state.end(journal.id);
      throw error;
    }
    await this.#needs.state.publish({
      type: 'sandbox-deleted',
      repositoryId: record.repositoryId,
      sandbox: record.id,
      data: { slug: record.slug },
    });
  }

  async #remove(
    record: SandboxRecord,
    repository: Pick<SourceRepository, 'remove'>,
    provider: SandboxProvider | undefined,
    journal: Pick<JournalEntry, 'id'>,
  ): Promise<void> {
    failpoint('delete.after-journal');
    await changeRecord(this.#needs.state, record, ({ state }) =>
      state === 'deleting' ? undefined : { state: 'deleting' },
    );
    failpoint('delete.after-mark');
    await this.#needs.reachKeeper.end(record, false);
    await this.#needs.forwardPorts.close(record.id);
    // The runtime ends everything at once; closing it first would end one process after another.
    await provider?.remove(record.id);
    failpoint('delete.after-runtime');
    if (provider) await removeSnapshots(provider, record.id);
    failpoint('delete.after-snapshots');
    await this.#needs.openSandboxes.close(record.id);
    failpoint('delete.after-close');
    await this.#needs.state.step(journal.id, 'history', { isLosable: true });
    await repository.remove(record.id);
    failpoint('delete.after-history');
    await this.#needs.state.remove(record.id);
    failpoint('delete.after-record');
    await this.#needs.state.end(journal.id, { isLosable: true });
    failpoint('delete.after-end');
  }

  async #leaseOf(found: SandboxRecord, force: boolean, options?: ProgressOptions): Promise<Lease> {
    const { patienceMs = force ? FORCE_PATIENCE_MS : undefined } = options ?? {};
    return await leaseQuietSandbox(this.#needs.state, found, 'delete', { ...options, patienceMs });
  }

  /** An agent that has done nothing yet is at work all the same. */
  async #assertNoAgent(record: SandboxRecord, options?: ProgressOptions): Promise<void> {
    const agent = await otherHandsIn(this.#needs.state, record, this.#needs.actor, options);
    if (agent === undefined) return;
    throw new LitterboxError('SANDBOX_ACTIVE', `${agent} is at work in ${record.slug}.`, {
      operation: 'sandbox.delete',
      hint: advice`End the agent first, or delete the sandbox all the same: ${step('sandbox-delete', { sandbox: record.slug, force: true })}.`,
    });
  }

  /** A runtime that the provider still has would stay there for good. */
  async #assertLost({ provider: key, slug }: SandboxRecord, options?: CallOptions): Promise<void> {
    const look = (provider: SandboxProvider, options: CallOptions) =>
      provider.list(options)[Symbol.asyncIterator]().next();
    const answer = await this.#needs.askProviders.one(key, look, { ...options, waitMs: CHOICE_MS });
    if (answer.state === 'unreachable' || answer.state === 'late') return;
    throw new LitterboxError('CONFLICT', `The provider ${key} answers, so it can remove ${slug} itself.`, {
      operation: 'sandbox.delete',
      hint: advice`Leave out --forget: ${step('sandbox-delete', { sandbox: slug })}.`,
    });
  }

  async #assertExpendable(
    { id, slug }: SandboxRecord,
    repository: SourceRepository,
    options?: ProgressOptions,
  ): Promise<void> {
    const files = await repository.changes(id, options).catch((error: unknown) => {
      if (isLitterboxError(error, 'NOT_FOUND')) return []; // a sandbox whose making was interrupted has no history yet
      throw error;
    });
    if (files.length === 0 || (await repository.isMerged(id, options))) return;
    const count = files.length === 1 ? 'one file' : `${files.length} files`;
    throw new LitterboxError(
      'UNMERGED_WORK',
      `The sandbox ${slug} holds changes to ${count} that are ${repository.isPersons ? 'not in your branch' : 'nowhere else'}.`,
      {
        operation: 'sandbox.delete',
        hint: !repository.isPersons
          ? advice`Take its files out, or give them up: ${step('sandbox-delete', { sandbox: slug, force: true })}.`
          : advice`See them: ${step('sandbox-diff', { sandbox: slug })}. Keep them: ${step('sandbox-merge', { sandbox: slug })}. Give them up: ${step('sandbox-delete', { sandbox: slug, force: true })}.`,
        facts: { files: files.length },
      },
    );
  }
}
