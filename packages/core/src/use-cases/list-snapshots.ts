import type { CallOptions } from '../ports/call.ts';
import type { FindSandbox } from './find-sandbox.ts';
import type { OpenSandboxes } from './open-sandboxes.ts';
import { type SandboxSnapshot, snapshotsOf, snapshotsPortOf } from './sandbox-snapshots.ts';

/** Lists the snapshots of a sandbox, oldest first. */
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
    return await snapshotsOf(snapshotsPortOf(provider, record), record.id, options);
  }
}
