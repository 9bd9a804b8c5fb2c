import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { StateStore } from '../../ports/state/state-store.ts';
import { leaseSandbox } from '../common/lease-sandbox.ts';
import { audited } from '../common/audited.ts';
import { currentRecord } from '../common/change-record.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import { type SandboxSnapshot, snapshotNamed, snapshotsOf, snapshotsPortOf } from '../common/sandbox-snapshots.ts';

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly openSandboxes: OpenSandboxes;
  readonly actor: string;
}

/** Removes a snapshot of a sandbox. The sandbox and its history stay as they are. */
export class RemoveSnapshot {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @param wanted the label, or the provider's name of one that has no label. @throws LitterboxError `NOT_FOUND`, `UNSUPPORTED` */
  async remove(name: string, wanted: string, options?: ProgressOptions): Promise<SandboxSnapshot> {
    const found = await this.#needs.findSandbox.find(name, options);
    await using _lease = await leaseSandbox(this.#needs.state, found, 'snapshot remove', options);
    const record = await currentRecord(this.#needs.state, found, options);
    const port = snapshotsPortOf(await this.#needs.openSandboxes.providerOf(record, options), record);
    const snapshot = snapshotNamed(await snapshotsOf(port, record.id, options), wanted, record);
    await audited(
      this.#needs.audit,
      {
        operation: 'snapshot-remove',
        actor: this.#needs.actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input: { snapshot: snapshot.note?.label ?? snapshot.name },
      },
      () => port.remove(snapshot.name, { signal: options?.signal }),
    );
    return snapshot;
  }
}
