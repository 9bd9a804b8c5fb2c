import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import type { Hint } from '../../domain/errors/next-step.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions, ProgressOptions } from '../../ports/common/call.ts';
import type { Lease, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';

type Named = Pick<SandboxRecord, 'id' | 'slug'>;

/** A look for an agent holds its lease for a moment. */
const LOOK_MS = 500;
/** The purpose of such a lease: no agent is called that. */
const LOOK = '(look)';

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly state: StateStore;
  readonly audit: AuditLog;
}

/** Lets one agent at a time work in a sandbox: two would undo each other's work without a word. */
export class SeatAgent {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * The agent's until it is disposed of or this process dies.
   *
   * @param agent what people call it, such as `codex`
   * @throws LitterboxError `BUSY` while another agent is at work there
   */
  async seat(
    { sandbox, agent }: { readonly sandbox: string; readonly agent: string },
    options?: CallOptions,
  ): Promise<Lease> {
    const found = await this.#needs.findSandbox.find(sandbox, options);
    const { id, repositoryId } = found;
    const seat = await takeSeat(this.#needs.state, found, agent, HINT, options);
    const hands = await this.#needs.state
      .lease(handsOf(found), agent, { ...options, waitMs: LOOK_MS })
      .catch(async (error: unknown) => {
        await seat[Symbol.asyncDispose]();
        throw error;
      });
    const lease: Lease = {
      resource: seat.resource,
      async [Symbol.asyncDispose]() {
        await hands[Symbol.asyncDispose]();
        await seat[Symbol.asyncDispose]();
      },
    };
    const entry = { operation: 'agent-seat', actor: agent, repositoryId, sandbox: id, input: {} };
    const ended = await this.#needs.audit.start(entry).catch(async (error: unknown) => {
      await lease[Symbol.asyncDispose]();
      throw error;
    });
    return {
      resource: lease.resource,
      async [Symbol.asyncDispose]() {
        await lease[Symbol.asyncDispose]();
        await ended('ok', {});
      },
    };
  }
}

const HINT =
  'Wait for it to end, or give this agent a sandbox of its own. Where its command knows --share, both can work in this one.';

/** @throws LitterboxError `BUSY` that names the agent which has the seat */
export async function takeSeat(
  state: StateStore,
  sandbox: Named,
  agent: string,
  hint: Hint = HINT,
  options?: CallOptions,
): Promise<Lease> {
  try {
    return await state.lease(seatOf(sandbox), agent, { ...options, waitMs: LOOK_MS });
  } catch (error) {
    if (!isLitterboxError(error, 'BUSY')) throw error;
    const { holderPurpose, holderPid } = error.details.facts ?? {};
    const other = typeof holderPurpose === 'string' ? holderPurpose : 'Another agent';
    const process = typeof holderPid === 'number' ? ` (process ${holderPid})` : '';
    throw new LitterboxError('BUSY', `${other}${process} is at work in ${sandbox.slug}.`, {
      operation: 'agent.seat',
      hint,
      ...(error.details.facts && { facts: error.details.facts }),
    });
  }
}

/** The agent that is at work in a sandbox, if any. */
export async function agentIn(state: StateStore, sandbox: Named): Promise<string | undefined> {
  return await holderOf(state, seatOf(sandbox));
}

/**
 * The agent that has nothing but this sandbox to work in, where it is not the one that calls: a deletion would take its ground away. One that
 * asks over MCP is told of a deletion by its next call, and makes another sandbox.
 *
 * @param actor who calls, unless the options name an agent
 */
export async function otherHandsIn(
  state: StateStore,
  sandbox: Named,
  actor: string,
  options?: ProgressOptions,
): Promise<string | undefined> {
  const agent = await holderOf(state, handsOf(sandbox));
  return agent === (options?.seatOf ?? actor) ? undefined : agent;
}

async function holderOf(state: StateStore, resource: string): Promise<string | undefined> {
  try {
    await using _seat = await state.lease(resource, LOOK, { waitMs: 0 });
    return undefined;
  } catch (error) {
    if (!isLitterboxError(error, 'BUSY')) throw error;
    const { holderPurpose } = error.details.facts ?? {};
    return typeof holderPurpose === 'string' && holderPurpose !== LOOK ? holderPurpose : undefined;
  }
}

const seatOf = ({ id }: Named) => `agent:${id}`;
const handsOf = ({ id }: Named) => `hands:${id}`;
