import { failpoint } from '../../domain/errors/failpoint.ts';
import { milestoneMessage } from '../../domain/sandbox/revision-message.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { Asker, ProgressOptions } from '../../ports/common/call.ts';
import type { Milestone } from '../../ports/source-control/sandbox-histories.ts';
import type { StateStore } from '../../ports/state/state-store.ts';
import { leaseSandbox } from '../common/lease-sandbox.ts';
import { audited } from '../common/audited.ts';
import { currentRecord } from '../common/change-record.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import { assertWhole } from '../session/open-sandboxes.ts';
import type { SettleSandbox } from '../record/settle-sandbox.ts';

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly settleSandbox: SettleSandbox;
  readonly actor: string;
  readonly asker: Asker;
}

/** Makes one commit on the review branch of all revisions since the last milestone. */
export class CutMilestone {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** `undefined` when nothing was recorded since the last one. */
  async cut(name: string, message: string, options?: ProgressOptions): Promise<Milestone | undefined> {
    const checked = milestoneMessage(message);
    const record = await this.#needs.findSandbox.find(name, options);
    const repository = await this.#needs.openRepository.open(options);
    await using _lease = await leaseSandbox(this.#needs.state, record, 'milestone', options);
    assertWhole(await currentRecord(this.#needs.state, record, options));
    return await audited(
      this.#needs.audit,
      {
        operation: 'sandbox-milestone',
        actor: this.#needs.actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input: { message: checked },
      },
      async () => {
        await this.#needs.settleSandbox.settle(record, options);
        const milestone = await repository.milestone(record.id, checked, options);
        failpoint('milestone.after-cut');
        // An agent's milestone writes its branch and nothing else.
        if (milestone && record.policy.worktrees === 'eager' && this.#needs.asker === 'person')
          await repository.exportTree(record.id, options);
        if (milestone)
          await this.#needs.state.publish({
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
