import { GATE_PORT } from '../../domain/sandbox/gate-port.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import { LOCAL_HOST, parseProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions, ProgressOptions } from '../../ports/common/call.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { Host } from '../../ports/machine/host.ts';
import type { Hosts } from '../../ports/machine/hosts.ts';
import type { GateReport, NetworkGate } from '../../ports/network/network-gate.ts';
import type { OpenPort } from '../../ports/common/open-port.ts';
import type { SandboxRuntime } from '../../ports/sandbox/sandbox-runtime.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { NetworkLedger } from './network-ledger.ts';
import { unsupportedNetwork } from './unsupported-network.ts';

/** The way from one sandbox to the network, for as long as it is open. Disposing resolves when all of it is in the audit log, or that cannot be written. */
export interface NetworkSession extends OpenPort {
  /** Destinations that no rule allows, each once: `host:port` without the port where that is 443. */
  readonly missing: ReadonlySet<string>;
  /** All that was refused, by host, with the first reason. */
  readonly refused: ReadonlyMap<string, RefusedHost>;
  /** Calls when one host has been refused so often that whoever asks for it will not stop. Disposing ends that. */
  whenHopeless(listener: (host: string) => void): Disposable;
}

/** Why a host was refused. Name and reason hold no characters but those of names and of our own words. */
export interface RefusedHost {
  readonly reason: string;
  /** A rule of `network.allow-private` would let it through. */
  readonly isPrivate: boolean;
  /** The address that the name leads to, where that is the reason. */
  readonly address?: string;
}

export interface OpenNetworkOptions extends CallOptions {
  /**
   * A person asked for what goes out, such as a setup of theirs: it has a budget of its own, so that agents of the repository, who
   * share one, cannot use it up. @defaultValue false
   */
  readonly isOfPerson?: boolean | undefined;
  /** Told once of each host that is refused, with the reason, as it happens. */
  readonly onRefused?: ((host: string, refused: RefusedHost) => void) | undefined;
}

/** So often within a minute: npm asks a proxy that says no for ever, twenty times a second. */
const HOPELESS_REFUSALS = 50;
const MINUTE_MS = 60_000;

/** More different ones are of no use to a person. */
const MAX_MISSING = 32;

interface Needs {
  readonly networkGate: NetworkGate;
  readonly audit: AuditLog;
  readonly state: Pick<StateStore, 'spend'>;
  readonly clock: Clock;
  readonly hosts: Pick<Hosts, 'open'>;
}

/** Opens the way from a sandbox to what its policy allows, and writes down who took it. */
export class OpenNetwork {
  readonly #needs: Needs;
  /** One for each sandbox, and for a session that ended while something of it is not written. */
  readonly #books = new Map<SandboxId, NetworkLedger>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /**
   * A connection that cannot be written down is not let through.
   *
   * @throws LitterboxError `UNSUPPORTED` where the runtime cannot; `PORT_TAKEN` when a program inside has the number of the proxy.
   */
  async open(
    record: Pick<SandboxRecord, 'id' | 'repositoryId' | 'provider' | 'policy'>,
    runtime: SandboxRuntime,
    options?: OpenNetworkOptions,
  ): Promise<NetworkSession> {
    if (!runtime.listen) throw unsupportedNetwork(record);
    const { allow = [], deny = [], allowPrivate = [] } = record.policy.network;
    const missing = new Set<string>();
    const refusals = new Refusals(this.#needs.clock, options?.onRefused);
    const books =
      this.#books.get(record.id) ?? new NetworkLedger(record, this.#needs.audit, this.#needs.state, this.#needs.clock);
    this.#books.set(record.id, books);
    const from = await this.#origin(record, options);
    const gate = await this.#needs.networkGate.open(
      { allow, deny, ...(allowPrivate.length > 0 && { allowPrivate }) },
      {
        report: async (report) => {
          note(report, missing);
          refusals.note(report);
          await books.report(report);
        },
        spend: (spending) =>
          books.spend(options?.isOfPerson === true ? { ...spending, name: `person:${spending.name}` } : spending),
      },
      from,
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
      refused: refusals.hosts,
      whenHopeless: (listener) => refusals.whenHopeless(listener),
      ended: port.ended,
      async [Symbol.asyncDispose]() {
        await port[Symbol.asyncDispose]();
        await closeGate();
      },
    };
  }

  /** The machine from which connections are made, where that is not this one. */
  async #origin(
    { provider, policy }: Pick<SandboxRecord, 'provider' | 'policy'>,
    options: CallOptions | undefined,
  ): Promise<Host | undefined> {
    const { host: name } = parseProviderKey(provider);
    if (name === LOCAL_HOST || policy.network.from === 'here') return undefined;
    return (await this.#needs.hosts.open(name, options)).host;
  }
}

/** Options of a way out whose refusals are progress. */
export function tellRefusals(options?: ProgressOptions): OpenNetworkOptions {
  return {
    ...options,
    onRefused: (host, { reason }) =>
      options?.onProgress?.({
        step: 'network',
        message: `Refused: ${reason.includes(host) ? '' : `${host}: `}${reason}`,
      }),
  };
}

function note(report: GateReport, missing: Set<string>): void {
  if (report.type !== 'refused' || report.rule !== undefined || report.host === undefined) return;
  const { host, port } = report;
  if (missing.size < MAX_MISSING) missing.add(port === undefined || port === 443 ? host : `${host}:${port}`);
}

/** The refusals of one network session, in the words for people. */
class Refusals {
  readonly hosts = new Map<string, RefusedHost>();
  readonly #counts = new Map<string, { count: number; sinceMs: number }>();
  readonly #listeners = new Set<(host: string) => void>();
  readonly #clock: Clock;
  readonly #onRefused: OpenNetworkOptions['onRefused'];

  constructor(clock: Clock, onRefused: OpenNetworkOptions['onRefused']) {
    this.#clock = clock;
    this.#onRefused = onRefused;
  }

  note(report: GateReport): void {
    if (report.type !== 'refused' || report.host === undefined) return;
    const { host, port, reason, isPrivate = false, address } = report;
    const name = port === undefined || port === 443 ? host : `${host}:${port}`;
    if (!this.hosts.has(name)) {
      if (this.hosts.size >= MAX_MISSING) return;
      const refused = { reason, isPrivate, ...(address !== undefined && { address }) };
      this.hosts.set(name, refused);
      this.#onRefused?.(name, refused);
    }
    const nowMs = this.#clock.monotonicMs();
    const known = this.#counts.get(name);
    const current = known && nowMs - known.sinceMs < MINUTE_MS ? known : { count: 0, sinceMs: nowMs };
    current.count += 1;
    this.#counts.set(name, current);
    if (current.count >= HOPELESS_REFUSALS) for (const listener of this.#listeners) listener(name);
  }

  whenHopeless(listener: (host: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}
