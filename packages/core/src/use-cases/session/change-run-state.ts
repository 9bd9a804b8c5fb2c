import { failpoint } from '../../domain/errors/failpoint.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { RuntimeStatus } from '../../ports/sandbox/sandbox-provider.ts';
import type { SandboxRecord, SandboxState, StateStore } from '../../ports/state/state-store.ts';
import { audited } from '../common/audited.ts';
import { changeRecord, currentRecord } from '../common/change-record.ts';
import { deletedMeanwhile } from '../common/deleted-meanwhile.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { isPausedOrStopped } from '../common/is-paused-or-stopped.ts';
import type { OpenSandboxes } from './open-sandboxes.ts';
import type { ReachKeeper } from '../keeper/reach-keeper.ts';
import { runtimeState } from '../common/runtime-state.ts';
import { settleRunState } from '../common/settle-run-state.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';

/** The states that a person can set. */
export type RunState = 'paused' | 'stopped' | 'ready';

/** The sandbox after it was told to pause, stop or go on. */
export interface RunStateResult {
  /** The sandbox afterwards. */
  readonly record: SandboxRecord;
  /** False when it was so already. */
  readonly isChanged: boolean;
}

const EVENTS: Readonly<Record<RunState, string>> = {
  paused: 'sandbox-paused',
  stopped: 'sandbox-stopped',
  ready: 'sandbox-resumed',
};

/** States between which a person may choose. */
const STABLE: readonly SandboxState[] = ['ready', 'paused', 'stopped', 'setup-failed'];

const RUNTIME_STATES: Readonly<Record<RunState, RuntimeStatus['state']>> = {
  paused: 'paused',
  stopped: 'stopped',
  ready: 'running',
};

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly openSandboxes: OpenSandboxes;
  readonly reachKeeper: ReachKeeper;
  readonly actor: string;
}

/** Pauses (memory kept), stops (memory freed) or resumes a sandbox. Idempotent. */
export class ChangeRunState {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async change(name: string, wanted: RunState, options?: CallOptions): Promise<RunStateResult> {
    return await this.of(await this.#needs.findSandbox.find(name, options), wanted, options);
  }

  async of(found: SandboxRecord, wanted: RunState, options?: CallOptions): Promise<RunStateResult> {
    // No lease: a command may be running, and pausing it is the point.
    const record = await currentRecord(this.#needs.state, found, options);
    if (!STABLE.includes(record.state)) {
      throw new LitterboxError('SANDBOX_BUSY', `The sandbox ${record.slug} is ${record.state}.`, {
        operation: 'sandbox.pause',
        hint: advice`Wait until that is done, or delete it: ${step('sandbox-delete', { sandbox: record.slug })}.`,
      });
    }
    // A failed setup stays one until the sandbox is made anew; it can be looked into all the same.
    if (record.state === 'setup-failed' && wanted === 'ready') return { record, isChanged: false };
    // The runtime has the last word: a program may have been killed between the two, or somebody else froze it.
    const provider = await this.#needs.openSandboxes.providerOf(record, options);
    if (record.state === wanted && RUNTIME_STATES[wanted] === (await runtimeState(provider, record.id, options)))
      return { record, isChanged: false };
    return await audited(
      this.#needs.audit,
      {
        operation: EVENTS[wanted],
        actor: this.#needs.actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input: {},
      },
      async () => {
        try {
          return await this.#changeState(record, wanted, options);
        } catch (error) {
          throw await deletedMeanwhile(this.#needs.state, record, error);
        }
      },
    );
  }

  async #changeState(record: SandboxRecord, wanted: RunState, options?: CallOptions): Promise<RunStateResult> {
    const runtime = await this.#needs.openSandboxes.runtime(record);
    const journal = await this.#needs.state.begin({ operation: 'sandbox-run-state', sandbox: record.id, step: wanted });
    try {
      if (wanted === 'paused') await runtime.pause(options);
      else if (wanted === 'stopped') {
        await this.#needs.reachKeeper.end(record, record.state === 'ready'); // what is frozen cannot end by itself
        await runtime.stop(options);
      } else await runtime.resume(options);
    } catch (error) {
      // It may have come half-way. An entry that nobody can settle now stays for the next reconcile.
      await this.#needs.openSandboxes
        .providerOf(record)
        .then((provider) => settleRunState(this.#needs.state, provider, record))
        .then(() => this.#needs.state.end(journal.id))
        .catch(() => {});
      throw error;
    }
    failpoint('run-state.after-runtime');
    // Never over a deletion that began meanwhile.
    const updated = await changeRecord(this.#needs.state, record, ({ state }) =>
      STABLE.includes(state) ? { state: wanted } : undefined,
    );
    failpoint('run-state.after-record');
    await this.#needs.state.end(journal.id);
    await this.#needs.state.publish({
      type: EVENTS[wanted],
      repositoryId: record.repositoryId,
      sandbox: record.id,
      data: {},
    });
    if (wanted === 'ready') await this.#needs.reachKeeper.ensure(updated, options);
    return { record: updated, isChanged: true };
  }

  /** Every sandbox of the repository, or of all repositories, that can be put into that state. */
  async changeAll(
    records: readonly SandboxRecord[],
    wanted: RunState,
    options?: CallOptions,
  ): Promise<readonly RunStateResult[]> {
    const results: RunStateResult[] = [];
    for (const record of records)
      if (record.state === 'ready' || isPausedOrStopped(record)) results.push(await this.of(record, wanted, options));
    return results;
  }
}
