import type { CommandShell } from '../../channel/command-shell.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import { type OpenSandboxes } from '../session/open-sandboxes.ts';

interface Needs {
  readonly openSandboxes: OpenSandboxes;
}

/** Finds what runs commands of a sandbox that are given as text. */
export class FindShell {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @returns undefined for a sandbox in which nothing can be started now */
  async find(record: SandboxRecord, options?: CallOptions): Promise<CommandShell | undefined> {
    if (record.state !== 'ready' && record.state !== 'setup-failed') return undefined;
    try {
      const { channel } = await this.#needs.openSandboxes.get(record, options);
      if (channel.shell === undefined) await channel.warm(options);
      return channel.shell;
    } catch {
      options?.signal?.throwIfAborted();
      return undefined; // whoever runs something is told what is wrong with the sandbox
    }
  }
}
