import type { PortPolicy } from '../../domain/sandbox/policy.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { PortForwarder } from '../../ports/network/port-forwarder.ts';
import type { AssignedPort, StateStore } from '../../ports/state/state-store.ts';

interface Needs {
  readonly state: StateStore;
  readonly forwarder: PortForwarder;
}

/** Finds a number on this machine for each port of a sandbox: one that nobody listens on, and that no other sandbox has. */
export class AssignPorts {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @param keep writes them down: nobody else is given a number before that is done */
  async assign<Kept>(
    ports: readonly PortPolicy[],
    keep: (assigned: readonly AssignedPort[]) => Promise<Kept>,
    options?: CallOptions,
  ): Promise<Kept> {
    if (ports.length === 0) return await keep([]);
    await using _lease = await this.#needs.state.lease('ports', 'choose ports', options);
    const records = await this.#needs.state.list(undefined, options);
    const taken = new Set(records.flatMap((record) => (record.ports ?? []).map(({ outside }) => outside)));
    const assigned: AssignedPort[] = [];
    for (const { name, inside } of ports) {
      const outside = await this.#needs.forwarder.free(taken, options);
      taken.add(outside);
      assigned.push({ name, inside, outside });
    }
    return await keep(assigned);
  }
}
