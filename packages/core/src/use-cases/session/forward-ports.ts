import { LitterboxError } from '../../domain/errors/errors.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { ByteStream } from '../../ports/common/byte-stream.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Forward, PortForwarder } from '../../ports/network/port-forwarder.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { audited } from '../common/audited.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { AssignPorts } from '../keeper/assign-ports.ts';
import type { OpenSandboxes } from './open-sandboxes.ts';

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openSandboxes: OpenSandboxes;
  readonly assignPorts: AssignPorts;
  readonly forwarder: PortForwarder;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly actor: string;
}

/** Ports of sandboxes that this program reaches although no configuration names them. They go with the program, or before. */
export class ForwardPorts {
  readonly #needs: Needs;
  readonly #forwards = new Map<SandboxId, Map<number, Promise<Forward>>>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * @param inside 1 to 65535
   * @returns the number on this machine's loopback, the same for every call
   * @throws LitterboxError `UNSUPPORTED` where nobody can connect to the sandbox, and as `OpenSandboxes.get`
   */
  async open(name: string, inside: number, options?: CallOptions): Promise<number> {
    const record = await this.#needs.findSandbox.find(name, options);
    const named = record.ports?.find((port) => port.inside === inside);
    if (named) return named.outside; // its keeper listens
    const known = this.#forwards.get(record.id) ?? new Map<number, Promise<Forward>>();
    this.#forwards.set(record.id, known);
    const forward = known.get(inside) ?? this.#listen(record, inside, options);
    known.set(inside, forward);
    forward.catch(() => known.delete(inside));
    return (await forward).port;
  }

  /** Nobody gets in any more, and who is in is out. */
  async close(id: SandboxId): Promise<void> {
    const known = this.#forwards.get(id);
    this.#forwards.delete(id);
    const ended = [...(known?.values() ?? [])].map(async (forward) => await (await forward)[Symbol.asyncDispose]());
    await Promise.allSettled(ended);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#forwards.keys()].map((id) => this.close(id)));
  }

  async #listen(record: SandboxRecord, inside: number, options?: CallOptions): Promise<Forward> {
    const { actor, assignPorts, audit, forwarder, openSandboxes } = this.#needs;
    const { id, provider, repositoryId } = record;
    const entry = { operation: 'port-open', actor, repositoryId, sandbox: id, input: { inside }, isRead: true };
    return await audited(audit, entry, async () => {
      if (!(await openSandboxes.get(record, options)).runtime.connect) throw unreachable(provider);
      const connect = () => this.#connect(record, inside);
      return await assignPorts.assign(
        [{ name: `port-${inside}`, inside }],
        async ([port]) => await forwarder.listen(port?.outside ?? 0, connect, options),
        options,
      );
    });
  }

  /** Whatever became of the sandbox since: it may run in another runtime, or be gone. */
  async #connect({ id, provider }: SandboxRecord, inside: number): Promise<ByteStream> {
    const now = await this.#needs.state.get(id);
    if (!now) void this.close(id);
    const stream = now && (await (await this.#needs.openSandboxes.get(now)).runtime.connect?.(inside));
    if (stream) return stream;
    throw unreachable(provider);
  }
}

const unreachable = (provider: string) =>
  new LitterboxError('UNSUPPORTED', `Litterbox cannot reach ports of this sandbox (provider ${provider}).`, {
    operation: 'sandbox.url',
    provider,
    hint: 'Use another provider.',
  });
