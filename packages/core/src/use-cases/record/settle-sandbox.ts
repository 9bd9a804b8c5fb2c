import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SandboxRecord, StateStore, UnrecordedFiles } from '../../ports/state/state-store.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import type { RecordRevision } from './record-revision.ts';

const AT_REST: ReadonlySet<string> = new Set(['SANDBOX_RUNTIME_MISSING', 'SANDBOX_PAUSED', 'SANDBOX_STOPPED']);

interface Needs {
  readonly state: StateStore;
  readonly openSandboxes: OpenSandboxes;
  readonly recordRevision: RecordRevision;
}

/**
 * Makes the history hold all that the workspace holds, before something is decided on the history alone: a milestone, an apply,
 * a merge, a deletion. The caller holds the sandbox's lease.
 */
export class SettleSandbox {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @returns what the workspace holds and the history does not, because it cannot be recorded */
  async settle({ id }: Pick<SandboxRecord, 'id'>, options?: CallOptions): Promise<UnrecordedFiles | undefined> {
    const record = await this.#needs.state.get(id, options);
    // One that is paused or stopped cannot be looked into; what it wrote before is found when it goes on.
    if (record?.state !== 'ready') return record?.unrecorded;
    try {
      const opened = await this.#needs.openSandboxes.getDrifted(record, options);
      return (await this.#needs.recordRevision.settle(record, opened, options)).unrecorded;
    } catch (error) {
      // Nothing is left to look into; or pausing, which takes no lease, came between the look at the record and this one.
      if (isLitterboxError(error) && AT_REST.has(error.code)) return record.unrecorded;
      throw error;
    }
  }
}
