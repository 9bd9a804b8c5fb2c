import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { audited } from '../common/audited.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { lookInto } from '../session/look-into.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';

/** A call that looks into a sandbox and changes nothing. */
export interface Inspection<Found> {
  readonly sandbox: string;
  /** Its name in the audit log: `sandbox-read`. */
  readonly operation: string;
  /** For the audit log. */
  readonly input: Readonly<Record<string, unknown>>;
  look(opened: OpenedSandbox, record: SandboxRecord): Promise<Found>;
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openSandboxes: OpenSandboxes;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly actor: string;
}

/** The one way in which calls look into a sandbox: any number at once, without a lease, audited. */
export class InspectSandbox {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async inspect<Found>({ sandbox, operation, input, look }: Inspection<Found>, options?: CallOptions): Promise<Found> {
    const record = await this.#needs.findSandbox.find(sandbox, options);
    return await audited(
      this.#needs.audit,
      {
        operation,
        actor: this.#needs.actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input,
        isRead: true,
      },
      async () => {
        const places = { open: this.#needs.openSandboxes, state: this.#needs.state };
        return await lookInto(places, record, async (opened) => await look(opened, record), options);
      },
    );
  }
}
