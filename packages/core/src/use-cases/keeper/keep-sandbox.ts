import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { Keepers } from '../../ports/network/keepers.ts';
import type { PortForwarder } from '../../ports/network/port-forwarder.ts';
import type { Providers } from '../../ports/sandbox/providers.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { Lease, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import type { HoldSecrets } from '../common/hold-secrets.ts';
import type { OpenEndpoints } from '../network/open-endpoints.ts';
import type { OpenNetwork } from '../network/open-network.ts';
import type { AssignPorts } from './assign-ports.ts';
import { Keeping } from './keeping.ts';

interface Needs {
  readonly state: StateStore;
  readonly providers: Providers;
  readonly keepers: Keepers;
  readonly forwarder: PortForwarder;
  readonly assignPorts: AssignPorts;
  readonly openNetwork: OpenNetwork;
  readonly openEndpoints: OpenEndpoints;
  readonly holdSecrets: HoldSecrets;
  readonly clock: Clock;
}

/**
 * Keeps a sandbox that has services, ports or a network: holds it open, runs the services, carries connections in, and those out
 * that are allowed. One program at a time does that for a sandbox, which the kernel knows by a lock; it answers for it to all others.
 */
export class KeepSandbox {
  readonly #needs: Needs;
  readonly #kept = new Map<SandboxId, Keeping>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * Begins to keep, and returns when its ports are open and it answers; the services start meanwhile.
   *
   * @returns resolves `done` when it no longer keeps; nothing when another program keeps it, or it is not to be kept
   */
  async keep(id: SandboxId): Promise<{ readonly done: Promise<void> } | undefined> {
    const lease = await this.#lease(id);
    if (!lease) return undefined;
    const keeping = await this.#begin(id, lease).catch(async (error: unknown) => {
      await lease[Symbol.asyncDispose]();
      throw error;
    });
    if (!keeping) await lease[Symbol.asyncDispose]();
    return keeping;
  }

  /** Stops the services that this program runs, and lets go. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#kept.values()].map((keeping) => keeping.close(true)));
  }

  async #lease(id: SandboxId): Promise<Lease | undefined> {
    try {
      return await this.#needs.state.lease(`keeper:${id}`, 'keep', { waitMs: 0 });
    } catch (error) {
      if (isLitterboxError(error, 'BUSY')) return undefined;
      throw error;
    }
  }

  /** Nothing where this program does not have it: another one, which has, will keep the sandbox. */
  async #provider({ provider }: SandboxRecord): Promise<SandboxProvider | undefined> {
    try {
      return await this.#needs.providers.get(provider);
    } catch (error) {
      if (isLitterboxError(error, 'INVALID_ARGUMENT')) return undefined;
      throw error;
    }
  }

  async #begin(id: SandboxId, lease: Lease): Promise<Keeping | undefined> {
    const record = await this.#needs.state.get(id);
    if (record?.state !== 'ready') return undefined;
    const provider = await this.#provider(record);
    if (!provider) return undefined;
    // One of its own: what else this program has open of the sandbox may be closed at any moment.
    const secrets = await this.#needs.holdSecrets.read(record);
    const runtime = await provider.open(id);
    const keeping = new Keeping({
      secrets,
      record,
      runtime,
      lease,
      state: this.#needs.state,
      forwarder: this.#needs.forwarder,
      assign: this.#needs.assignPorts,
      keepers: this.#needs.keepers,
      network: this.#needs.openNetwork,
      endpoints: this.#needs.openEndpoints,
      clock: this.#needs.clock,
      closed: () => this.#kept.delete(id),
    });
    this.#kept.set(id, keeping);
    try {
      await keeping.open();
      return keeping;
    } catch (error) {
      await keeping.close(false);
      throw error;
    }
  }
}
