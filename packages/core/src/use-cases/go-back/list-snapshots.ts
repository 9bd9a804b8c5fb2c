import type { CallOptions } from '../../ports/common/call.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import { type SandboxSnapshot, snapshotsOf, snapshotsPortOf } from '../common/sandbox-snapshots.ts';

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openSandboxes: OpenSandboxes;
}

/** Lists the snapshots of a sandbox, oldest first, with what each takes. */
export class ListSnapshots {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `UNSUPPORTED` when the provider takes none, `UNAVAILABLE` when it cannot be asked */
  async list(name: string, options?: CallOptions): Promise<readonly SandboxSnapshot[]> {
    const record = await this.#needs.findSandbox.find(name, options);
    const provider = await this.#needs.openSandboxes.providerOf(record, options);
    const port = snapshotsPortOf(provider, record);
    const snapshots = await snapshotsOf(port, record.id, options);
    if (snapshots.length === 0) return [];
    const usages = await port.usage(
      snapshots.map(({ name: one }) => one),
      { signal: options?.signal },
    );
    return snapshots.map((snapshot) => {
      const usage = usages.get(snapshot.name);
      return usage ? { ...snapshot, usage } : snapshot;
    });
  }
}
