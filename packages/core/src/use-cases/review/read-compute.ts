import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { ResourceUsage } from '../../ports/sandbox/sandbox-runtime.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import type { ListSandboxes, ShownState } from './list-sandboxes.ts';
import { CALLS, MAX_ENTRIES } from './read-history.ts';

/** The use that a sandbox made of its machine. */
export interface ComputeUse {
  /** Calls of programs and people that may change files, over all sessions. */
  readonly calls: number;
  /** Time that they took together, in milliseconds of the wall clock; one that goes on up to now. Two at once count twice. */
  readonly callMs: number;
  /** Calls whose time nobody knows, because their program was killed. */
  readonly untimed: number;
  /** In use now; processor time over its whole life. Absent where it cannot be asked. */
  readonly now?: ResourceUsage;
  /** One sentence: why a sandbox that should run could not be asked. */
  readonly unasked?: string;
}

/** States in which a runtime is there to be asked. It starts nothing for it. */
const ASKED: ReadonlySet<ShownState> = new Set(['ready', 'setup-failed', 'paused', 'stopped']);

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly listSandboxes: ListSandboxes;
  readonly openSandboxes: OpenSandboxes;
  readonly audit: AuditLog;
}

/** Tells how long the calls of a sandbox took over all of its sessions, and how much memory and disk it holds. */
export class ReadCompute {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @param sumsAlone asks no runtime */
  async read(name: string, sumsAlone: boolean, options?: CallOptions): Promise<ComputeUse> {
    const record = await this.#needs.findSandbox.find(name, options);
    return sumsAlone ? await this.#sums(record, options) : await this.of(record, options);
  }

  async of(record: SandboxRecord, options?: CallOptions): Promise<ComputeUse> {
    const [sums, now] = await Promise.all([this.#sums(record, options), this.#now(record, options)]);
    return { ...sums, ...now };
  }

  async #sums({ id: sandbox, repositoryId }: SandboxRecord, options?: CallOptions) {
    const sums = { calls: 0, callMs: 0, untimed: 0 };
    const entries = await this.#needs.audit.entries({ repositoryId, sandbox, limit: MAX_ENTRIES }, options);
    for (const { operation, outcome, atMs, durationMs } of entries) {
      if (!CALLS.has(operation)) continue;
      sums.calls++;
      if (durationMs !== undefined) sums.callMs += durationMs;
      else if (outcome === 'running') sums.callMs += Math.max(0, Date.now() - atMs);
      else sums.untimed++;
    }
    return { ...sums, callMs: Math.round(sums.callMs) };
  }

  async #now(record: SandboxRecord, options?: CallOptions): Promise<Pick<ComputeUse, 'now' | 'unasked'>> {
    const { listSandboxes, openSandboxes } = this.#needs;
    // Nobody waits for a provider that is silent.
    if (!ASKED.has(await listSandboxes.state(record, options))) return {};
    try {
      return { now: await (await openSandboxes.runtime(record)).usage(options) };
    } catch (error) {
      options?.signal?.throwIfAborted();
      if (!isLitterboxError(error)) throw error;
      return { unasked: error.message };
    }
  }
}
