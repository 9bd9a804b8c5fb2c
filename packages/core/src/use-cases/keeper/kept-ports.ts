import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import type { Forward, PortForwarder } from '../../ports/network/port-forwarder.ts';
import type { SandboxRuntime } from '../../ports/sandbox/sandbox-runtime.ts';
import type { AssignedPort, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { changeRecord } from '../common/change-record.ts';
import type { AssignPorts } from './assign-ports.ts';
import type { PortStatus } from './keeper-status.ts';

interface Needs {
  readonly record: SandboxRecord;
  readonly runtime: SandboxRuntime;
  readonly forwarder: PortForwarder;
  readonly assign: AssignPorts;
  readonly state: StateStore;
  /** Connections that are being made end with it. */
  readonly signal: AbortSignal;
}

/** Ports of a sandbox that this program carries in. */
export class KeptPorts implements AsyncDisposable {
  readonly #needs: Needs;
  readonly #forwards = new Map<string, Forward>();
  readonly #movedFrom = new Map<string, number>();
  #record: SandboxRecord;

  constructor(needs: Needs) {
    this.#record = needs.record;
    this.#needs = needs;
  }

  /** With the numbers that its ports have now. */
  get record(): SandboxRecord {
    return this.#record;
  }

  /** Listens at all of them. One whose number another program took gets another one. */
  async open(): Promise<void> {
    await this.#assignMissing();
    for (const port of this.#record.ports ?? []) await this.#listen(port);
  }

  status(): readonly PortStatus[] {
    return (this.#record.ports ?? []).map((port) => {
      const movedFrom = this.#movedFrom.get(port.name);
      return { ...port, ...(movedFrom !== undefined && { movedFrom }) };
    });
  }

  /** Tries each. */
  async probe(): Promise<readonly PortStatus[]> {
    return await Promise.all(
      this.status().map(async (port) => {
        try {
          await using _open = await this.#needs.runtime.connect?.(port.inside);
          return { ...port, answers: true };
        } catch {
          return { ...port, answers: false };
        }
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#forwards.values()].map((forward) => forward[Symbol.asyncDispose]()));
  }

  /** A record that was made anew from its history knows no numbers. */
  async #assignMissing(): Promise<void> {
    const { assign, state } = this.#needs;
    const known = this.#record.ports ?? [];
    const missing = (this.#record.policy.ports ?? []).filter(({ name }) => !known.some((port) => port.name === name));
    if (missing.length === 0) return;
    this.#record = await assign.assign(missing, (assigned) =>
      changeRecord(state, this.#record, ({ ports = [] }) => ({ ports: [...ports, ...assigned] })),
    );
  }

  async #listen(port: AssignedPort): Promise<void> {
    const { forwarder, runtime, assign, state, signal } = this.#needs;
    const { id, repositoryId } = this.#record;
    const connect = async (inside: number) => {
      const stream = await runtime.connect?.(inside, { signal });
      if (stream) return stream;
      throw new LitterboxError('UNSUPPORTED', 'Litterbox cannot reach ports of this sandbox.', {
        operation: 'keeper.open',
      });
    };
    for (let now = port; ; ) {
      try {
        this.#forwards.set(port.name, await forwarder.listen(now.outside, () => connect(now.inside)));
        return;
      } catch (error) {
        if (!isLitterboxError(error, 'PORT_TAKEN')) throw error;
        this.#movedFrom.set(port.name, port.outside);
        this.#record = await assign.assign([now], ([other = now]) =>
          changeRecord(state, this.#record, ({ ports = [] }) => ({
            ports: ports.map((one) => (one.name === other.name ? other : one)),
          })),
        );
        now = this.#record.ports?.find(({ name }) => name === port.name) ?? now;
        await state.publish({
          type: 'port-moved',
          repositoryId,
          sandbox: id,
          data: { name: port.name, from: port.outside, to: now.outside },
        });
      }
    }
  }
}
