import { advice, step } from '../../domain/errors/next-step.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Lease, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { takeSeat } from './seat-agent.ts';

const HINT = advice`Work in a sandbox of your own: ${step('sandbox-create')}; or ask the person to end the other agent, or to start this server with --share.`;

/**
 * The seats of the one agent whose session this process is, subagents of it included. Each is taken by the first call that may change the
 * sandbox, and kept as long as the process lives; a kill gives it up too. Calls after the first ask nobody.
 */
export class SessionSeats {
  readonly #state: StateStore;
  readonly #seats = new Map<string, Promise<Lease>>();

  constructor(state: StateStore) {
    this.#state = state;
  }

  /** @throws LitterboxError `BUSY` while another agent has the seat */
  async take(sandbox: Pick<SandboxRecord, 'id' | 'slug'>, agent: string, options?: CallOptions): Promise<void> {
    const { id } = sandbox;
    const known = this.#seats.get(id);
    // Calls at once share one attempt, which none of them may take back.
    const taken = known ?? takeSeat(this.#state, sandbox, agent, HINT);
    if (!known) {
      this.#seats.set(id, taken);
      taken.catch(() => this.#seats.delete(id));
    }
    await taken;
    options?.signal?.throwIfAborted();
  }
}
