import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { Asker, ProgressOptions } from '../../ports/common/call.ts';
import type { Revision } from '../../ports/source-control/sandbox-histories.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { changeRecord } from '../common/change-record.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { leaseSandbox } from '../common/lease-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import { unrecordedText } from '../record/unrecorded-files.ts';
import type { SettleSandbox } from '../record/settle-sandbox.ts';

/** A state of a sandbox that a person is about to be shown. */
export interface Look {
  readonly record: SandboxRecord;
  /** The shown state, whatever is recorded from now on. */
  readonly tip: Revision;
  /** One sentence: why the workspace was not looked into, so that the tip may be without its last changes; or what could not be recorded. */
  readonly unsettled?: string;
}

/** How long a call that is at work gets to end. A person who looks is shown what there is, rather than made to wait for a long test. */
const PATIENCE_MS = 500;

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly settleSandbox: SettleSandbox;
  readonly asker: Asker;
}

/**
 * What a person sees before they decide: the history with everything that the workspace holds, and a note of what they were shown, on which
 * their yes then stands ({@link AcceptWork}).
 */
export class LookAtSandbox {
  readonly #needs: Needs;

  /** @param asker an agent that looks at work has not shown it to anybody, and sees what is recorded */
  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async look(name: string, options?: ProgressOptions): Promise<Look> {
    const record = await this.#needs.findSandbox.find(name, options);
    const unsettled = this.#needs.asker === 'agent' ? undefined : await this.#settleUnrecorded(record, options);
    const repository = await this.#needs.openRepository.open(options);
    const { tip } = await repository.history(record.id, options);
    return { record, tip, ...(unsettled !== undefined && { unsettled }) };
  }

  /** A person was shown everything that the look holds. Nothing happens for an agent, nor when the sandbox was deleted meanwhile. */
  async markShown({
    record,
    tip,
  }: {
    readonly record: SandboxRecord;
    readonly tip: Pick<Revision, 'commit'>;
  }): Promise<void> {
    if (this.#needs.asker === 'agent') return;
    try {
      await changeRecord(this.#needs.state, record, ({ shownTip }) =>
        shownTip === tip.commit ? undefined : { shownTip: tip.commit },
      );
    } catch (error) {
      if (!isLitterboxError(error, 'SANDBOX_NOT_FOUND')) throw error;
    }
  }

  async #settleUnrecorded(record: SandboxRecord, options?: ProgressOptions): Promise<string | undefined> {
    const { slug, state } = record;
    if (state === 'paused' || state === 'stopped')
      return `${slug} is ${state}: changes that no call recorded before that are not shown.`;
    try {
      await using _lease = await leaseSandbox(this.#needs.state, record, 'diff', {
        patienceMs: PATIENCE_MS,
        ...options,
      });
      const unrecorded = await this.#needs.settleSandbox.settle(record, options);
      return unrecorded && unrecordedText(slug, unrecorded);
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
      return `${error.message} Changes that no call has recorded yet are not shown.`;
    }
  }
}
