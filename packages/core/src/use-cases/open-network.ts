import { GATE_PORT } from '../domain/gate-port.ts';
import type { SandboxId } from '../domain/ids.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { CallOptions } from '../ports/call.ts';
import type { Clock } from '../ports/clock.ts';
import type { GateReport, NetworkGate } from '../ports/network-gate.ts';
import type { OpenPort } from '../ports/open-port.ts';
import type { SandboxRuntime } from '../ports/sandbox-runtime.ts';
import type { SandboxRecord, StateStore } from '../ports/state-store.ts';
import { NetworkBooks } from './network-books.ts';
import { unsupportedNetwork } from './unsupported-network.ts';

/** The way from one sandbox to the network, for as long as it is open. Disposing resolves when all of it is in the audit log, or that cannot be written. */
export interface WayOut extends OpenPort {
  /** What was refused because no rule allows it, each once: `host:port` without the port where that is 443. */
  readonly missing: ReadonlySet<string>;
}

/** More different ones are of no use to a person. */
const MAX_MISSING = 32;

/** Opens the way from a sandbox to what its policy allows, and writes down who took it. */
export class OpenNetwork {
  readonly #gate: NetworkGate;
  readonly #audit: AuditLog;
  readonly #state: Pick<StateStore, 'spend'>;
  readonly #clock: Clock;
  /** Of each sandbox its own, and of a way that ended too, while something of it is not written. */
  readonly #books = new Map<SandboxId, NetworkBooks>();

  constructor(gate: NetworkGate, audit: AuditLog, state: Pick<StateStore, 'spend'>, clock: Clock) {
    this.#gate = gate;
    this.#audit = audit;
    this.#state = state;
    this.#clock = clock;
  }

  /**
   * What cannot be written down is not let through.
   *
   * @throws LitterboxError `UNSUPPORTED` where the runtime cannot; `PORT_TAKEN` when a program inside has the number of the proxy.
   */
  async execute(
    record: Pick<SandboxRecord, 'id' | 'repositoryId' | 'provider' | 'policy'>,
    runtime: SandboxRuntime,
    options?: CallOptions,
  ): Promise<WayOut> {
    if (!runtime.listen) throw unsupportedNetwork(record);
    const { allow = [], deny = [] } = record.policy.network;
    const missing = new Set<string>();
    const books = this.#books.get(record.id) ?? new NetworkBooks(record, this.#audit, this.#state, this.#clock);
    this.#books.set(record.id, books);
    const gate = await this.#gate.open(
      { allow, deny },
      {
        report: async (report) => {
          note(report, missing);
          await books.report(report);
        },
        spend: (spending) => books.spend(spending),
      },
    );
    const closeGate = async () => {
      await gate[Symbol.asyncDispose]();
      await books.settled();
      if (books.isWritten) this.#books.delete(record.id);
    };
    const port = await runtime
      .listen(GATE_PORT, (stream) => void gate.serve(stream), options)
      .catch(async (error: unknown) => {
        await closeGate();
        throw error;
      });
    return {
      missing,
      ended: port.ended,
      async [Symbol.asyncDispose]() {
        await port[Symbol.asyncDispose]();
        await closeGate();
      },
    };
  }
}

function note(report: GateReport, missing: Set<string>): void {
  if (report.type !== 'refused' || report.rule !== undefined || report.host === undefined) return;
  const { host, port } = report;
  if (missing.size < MAX_MISSING) missing.add(port === undefined || port === 443 ? host : `${host}:${port}`);
}
