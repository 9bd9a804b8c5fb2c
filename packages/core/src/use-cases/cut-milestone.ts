import { reach } from '../domain/failpoint.ts';
import { milestoneMessage } from '../domain/revision-message.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { Asker, ProgressOptions } from '../ports/call.ts';
import type { Milestone } from '../ports/sandbox-histories.ts';
import type { StateStore } from '../ports/state-store.ts';
import { leaseSandbox } from './lease-sandbox.ts';
import { audited } from './audited.ts';
import { currentRecord } from './change-record.ts';
import type { FindSandbox } from './find-sandbox.ts';
import type { OpenRepository } from './open-repository.ts';
import { assertWhole } from './open-sandboxes.ts';
import type { SettleSandbox } from './settle-sandbox.ts';

/** Makes one commit on the review branch of all revisions since the last milestone. */
export class CutMilestone {
  readonly #find: FindSandbox;
  readonly #repository: OpenRepository;
  readonly #state: StateStore;
  readonly #audit: AuditLog;
  readonly #settle: SettleSandbox;
  readonly #actor: string;
  readonly #asker: Asker;

  constructor(
    find: FindSandbox,
    repository: OpenRepository,
    state: StateStore,
    audit: AuditLog,
    settle: SettleSandbox,
    actor: string,
    asker: Asker,
  ) {
    this.#find = find;
    this.#repository = repository;
    this.#state = state;
    this.#audit = audit;
    this.#settle = settle;
    this.#actor = actor;
    this.#asker = asker;
  }

  /** `undefined` when nothing was recorded since the last one. */
  async execute(name: string, message: string, options?: ProgressOptions): Promise<Milestone | undefined> {
    const checked = milestoneMessage(message);
    const record = await this.#find.execute(name, options);
    const repository = await this.#repository.execute(options);
    await using _lease = await leaseSandbox(this.#state, record, 'milestone', options);
    assertWhole(await currentRecord(this.#state, record, options));
    return await audited(
      this.#audit,
      {
        operation: 'sandbox-milestone',
        actor: this.#actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input: { message: checked },
      },
      async () => {
        await this.#settle.execute(record, options);
        const milestone = await repository.milestone(record.id, checked, options);
        reach('milestone.after-cut');
        // What an agent asks for writes its branch and nothing else.
        if (milestone && record.policy.worktrees === 'eager' && this.#asker === 'person')
          await repository.exportTree(record.id, options);
        if (milestone)
          await this.#state.publish({
            type: 'milestone-cut',
            repositoryId: record.repositoryId,
            sandbox: record.id,
            data: { commit: milestone.commit, branch: milestone.branch },
          });
        return milestone;
      },
      (milestone) => (milestone ? { commit: milestone.commit } : {}),
    );
  }
}
