import { LitterboxError } from '../domain/errors.ts';
import { reach } from '../domain/failpoint.ts';
import { revisionMessage } from '../domain/revision-message.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { ProgressOptions } from '../ports/call.ts';
import type { Revision } from '../ports/source-control.ts';
import type { SandboxRecord, StateStore } from '../ports/state-store.ts';
import { audited } from './audited.ts';
import { changeRecord, currentRecord } from './change-record.ts';
import { specOf } from './create-sandbox.ts';
import type { FindSandbox } from './find-sandbox.ts';
import type { OpenSandboxes } from './open-sandboxes.ts';
import type { OpenRepository } from './open-repository.ts';

export interface RestoreResult {
  /** Absent when the sandbox was at that revision already. */
  readonly revision?: Revision;
}

/**
 * Puts a sandbox's workspace to a revision (`restore`) or rebuilds what it runs in from its last one (`recover`). The runtime is
 * made anew on that tree: what is ignored or was never recorded is gone, home and temporary files too. History only grows.
 */
export class RestoreRevision {
  readonly #find: FindSandbox;
  readonly #repository: OpenRepository;
  readonly #state: StateStore;
  readonly #audit: AuditLog;
  readonly #open: OpenSandboxes;
  readonly #actor: string;

  constructor(
    find: FindSandbox,
    repository: OpenRepository,
    state: StateStore,
    audit: AuditLog,
    open: OpenSandboxes,
    actor: string,
  ) {
    this.#find = find;
    this.#repository = repository;
    this.#state = state;
    this.#audit = audit;
    this.#open = open;
    this.#actor = actor;
  }

  async restore(name: string, wanted: string, options?: ProgressOptions): Promise<RestoreResult> {
    const record = await this.#find.execute(name, options);
    const repository = await this.#repository.execute(options);
    await using _lease = await this.#state.lease(`sandbox:${record.id}`, `restore ${wanted}`, options);
    const target = await repository.resolve(record.id, wanted, options);
    return await audited(
      this.#audit,
      {
        operation: 'sandbox-restore',
        actor: this.#actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input: { revision: target.commit },
      },
      async () => {
        const message = revisionMessage({
          tool: 'restore',
          subject: `revision ${target.number}`,
          sandbox: record.slug,
        });
        let revision: Revision | undefined;
        await this.#rebuild(record, options, async () => {
          revision = await repository.restore(record.id, target.commit, message, options);
          reach('restore.after-revision');
        });
        return revision ? { revision } : {};
      },
    );
  }

  async recover(name: string, options?: ProgressOptions): Promise<SandboxRecord> {
    const record = await this.#find.execute(name, options);
    if (record.state === 'creating' || record.state === 'deleting') {
      throw new LitterboxError('SANDBOX_BUSY', `The sandbox ${record.slug} is ${record.state}.`, {
        operation: 'sandbox.recover',
        hint: `If nothing is doing that any more: litterbox delete ${record.slug} --force.`,
      });
    }
    await using _lease = await this.#state.lease(`sandbox:${record.id}`, 'recover', options);
    return await audited(
      this.#audit,
      {
        operation: 'sandbox-recover',
        actor: this.#actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input: {},
      },
      () => this.#rebuild(record, options),
    );
  }

  /** Makes the runtime that a killed process was replacing. The caller holds the lease. */
  async rebuilt(record: SandboxRecord): Promise<void> {
    await this.#make(record);
  }

  /**
   * The old workspace goes before the history moves: whenever it ends half-way there is none, never one that is not what the
   * history says. After a kill `reconcile` makes the new one, after an error `recover`.
   */
  async #rebuild(
    record: SandboxRecord,
    options?: ProgressOptions,
    moveHistory: () => Promise<void> = async () => {},
  ): Promise<SandboxRecord> {
    const provider = this.#open.providerOf(record);
    options?.onProgress?.({ step: 'runtime', message: 'Building the sandbox anew' });
    const journal = await this.#state.begin({ operation: 'sandbox-rebuild', sandbox: record.id, step: 'runtime' });
    reach('rebuild.after-journal');
    try {
      await this.#open.close(record.id);
      await provider.remove(record.id);
      reach('rebuild.after-remove');
      await moveHistory();
      return await this.#make(await currentRecord(this.#state, record, options), options);
    } finally {
      await this.#state.end(journal.id);
    }
  }

  async #make(record: SandboxRecord, options?: ProgressOptions): Promise<SandboxRecord> {
    const repository = await this.#repository.execute(options);
    const { tip } = await repository.history(record.id, options);
    const provider = this.#open.providerOf(record);
    await this.#open.close(record.id);
    await provider.remove(record.id); // what a killed process made meanwhile
    const runtime = await provider.create(specOf(record, tip, repository), options);
    reach('rebuild.after-create');
    const { runtime: adopted } = this.#open.adopt(record, runtime);
    // No mark: the new runtime counts from the new base, which is the tip.
    const assurance = await adopted.assurance(options);
    const updated = await changeRecord(this.#state, record, () => ({ mark: null, state: 'ready', assurance }));
    reach('rebuild.after-record');
    await this.#state.publish({
      type: 'sandbox-rebuilt',
      repositoryId: record.repositoryId,
      sandbox: record.id,
      data: { tip: tip.commit },
    });
    return updated;
  }
}
