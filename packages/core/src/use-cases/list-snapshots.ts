import type { CallOptions } from '../ports/call.ts';
import type { FindSandbox } from './find-sandbox.ts';
import type { OpenSandboxes } from './open-sandboxes.ts';
import { type SandboxSnapshot, snapshotsOf, snapshotsPortOf } from './sandbox-snapshots.ts';

/** Lists the snapshots of a sandbox, oldest first, with what each takes. */
export class ListSnapshots {
  readonly #find: FindSandbox;
  readonly #open: OpenSandboxes;

  constructor(find: FindSandbox, open: OpenSandboxes) {
    this.#find = find;
    this.#open = open;
  }

  /** @throws LitterboxError `UNSUPPORTED` when the provider takes none, `UNAVAILABLE` when it cannot be asked */
  async execute(name: string, options?: CallOptions): Promise<readonly SandboxSnapshot[]> {
    const record = await this.#find.execute(name, options);
    const provider = await this.#open.providerOf(record, options);
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
