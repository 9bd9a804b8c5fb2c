import { GATE_PORT } from '../domain/gate-port.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { CallOptions } from '../ports/call.ts';
import type { GateReport, NetworkGate } from '../ports/network-gate.ts';
import type { OpenPort } from '../ports/open-port.ts';
import type { SandboxRuntime } from '../ports/sandbox-runtime.ts';
import type { SandboxRecord } from '../ports/state-store.ts';
import { unsupportedNetwork } from './unsupported-network.ts';

/** The way from one sandbox to the network, for as long as it is open. Disposing resolves when all of it is in the audit log. */
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

  constructor(gate: NetworkGate, audit: AuditLog) {
    this.#gate = gate;
    this.#audit = audit;
  }

  /**
   * What cannot be written down is not let through: the way closes.
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
    let writing = Promise.resolve();
    const gate = await this.#gate.open({ allow, deny }, (report) => {
      note(report, missing);
      writing = writing
        .then(() => this.#write(record, report))
        .catch(() => {
          close().catch(() => {});
        });
    });
    const closeGate = async () => {
      await gate[Symbol.asyncDispose]();
      await writing;
    };
    const port = await runtime
      .listen(GATE_PORT, (stream) => void gate.serve(stream), options)
      .catch(async (error: unknown) => {
        await closeGate();
        throw error;
      });
    const close = async () => {
      await port[Symbol.asyncDispose]();
      await gate[Symbol.asyncDispose]();
    };
    return {
      missing,
      ended: port.ended,
      async [Symbol.asyncDispose]() {
        await close();
        await writing;
      },
    };
  }

  async #write(record: Pick<SandboxRecord, 'id' | 'repositoryId'>, report: GateReport): Promise<void> {
    const { type, ...input } = report;
    const finish = await this.#audit.start({
      operation: `network-${type}`,
      actor: 'sandbox',
      repositoryId: record.repositoryId,
      sandbox: record.id,
      input,
      isRead: type !== 'opened', // what went out has to outlive a power cut
    });
    await finish(type === 'refused' ? 'error' : 'ok', {});
  }
}

function note(report: GateReport, missing: Set<string>): void {
  if (report.type !== 'refused' || report.rule !== undefined || report.host === undefined) return;
  const { host, port } = report;
  if (missing.size < MAX_MISSING) missing.add(port === undefined || port === 443 ? host : `${host}:${port}`);
}
