import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { KeeperRequest, Keepers } from '../../ports/network/keepers.ts';
import type { Forward, PortForwarder } from '../../ports/network/port-forwarder.ts';
import type { Providers } from '../../ports/sandbox/providers.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SandboxRuntime } from '../../ports/sandbox/sandbox-runtime.ts';
import type { AssignedPort, Lease, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { commandVariables } from '../../services/command-variables.ts';
import type { KeptService, ServiceStatus } from '../../services/kept-service.ts';
import { SandboxServices } from '../../services/sandbox-services.ts';
import type { AssignPorts } from './assign-ports.ts';
import { changeRecord, currentRecord } from '../common/change-record.ts';
import type { HeldSecrets } from '../../channel/held-secrets.ts';
import type { HoldSecrets } from '../common/hold-secrets.ts';
import type { OpenEndpoints } from '../network/open-endpoints.ts';
import type { OpenNetwork } from '../network/open-network.ts';
import { KeptWay, type WayStatus } from './kept-way.ts';

/** A port of a sandbox as its keeper sees it. */
export interface PortStatus extends AssignedPort {
  /** The number before another program took that. */
  readonly movedFrom?: number;
  /** Whether a program inside listens. Known when it was tried. */
  readonly answers?: boolean;
}

/** A keeper's knowledge of its services, its ports and its ways out. */
export interface KeeperStatus {
  readonly services: readonly ServiceStatus[];
  readonly ports: readonly PortStatus[];
  /** Absent where there is to be none. */
  readonly network?: WayStatus;
  /** All of them together. Absent where there is to be none. */
  readonly endpoints?: WayStatus;
}

/** The answer of `logs`: text as in `raw-text.ts`. */
export interface ServiceOutput {
  /** The name of the service that printed it. */
  readonly service: string;
  /** Hostile. */
  readonly text: string;
}

/** How often a keeper looks whether there is still something to keep. Those who end a sandbox tell it; they may be killed. */
const LOOK_MS = 5_000;
const DEFAULT_TAIL_BYTES = 64 * 1024;

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

interface KeepingInput {
  readonly secrets: HeldSecrets;
  readonly record: SandboxRecord;
  readonly runtime: SandboxRuntime;
  readonly lease: Lease;
  readonly state: StateStore;
  readonly forwarder: PortForwarder;
  readonly assign: AssignPorts;
  readonly keepers: Keepers;
  readonly network: OpenNetwork;
  readonly endpoints: OpenEndpoints;
  readonly clock: Clock;
  readonly closed: () => void;
}

/** One sandbox that this program keeps. */
class Keeping {
  readonly done: Promise<void>;
  readonly #input: KeepingInput;
  readonly #services: SandboxServices;
  readonly #forwards = new Map<string, Forward>();
  readonly #movedFrom = new Map<string, number>();
  readonly #over = new AbortController();
  #record: SandboxRecord;
  #desk: AsyncDisposable | undefined;
  readonly #network: KeptWay | undefined;
  readonly #endpoints: KeptWay | undefined;
  #started: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #isDone = () => {};

  constructor(input: KeepingInput) {
    this.#input = input;
    this.#record = input.record;
    const { runtime, clock, state, record, secrets } = input;
    const { services = [], supervisor, network, endpoints } = record.policy;
    if (network.run !== 'none') this.#network = new KeptWay((call) => input.network.open(record, runtime, call));
    if (endpoints) this.#endpoints = new KeptWay((call) => input.endpoints.open(record, runtime, call));
    this.#services = new SandboxServices({
      services,
      supervisor,
      runtime,
      secrets,
      clock,
      variables: () => commandVariables(this.#record, 'run'),
      isAwake: async () => (await state.get(record.id))?.state === 'ready',
    });
    this.done = new Promise((resolve) => {
      this.#isDone = resolve;
    });
  }

  async open(): Promise<void> {
    const { runtime, keepers, record } = this.#input;
    await runtime.assurance(); // holds the sandbox open
    await this.#assignMissing();
    for (const port of this.#record.ports ?? []) await this.#listen(port);
    await this.#services.endLeftOver(); // of a keeper that was killed
    await this.#openWays();
    this.#desk = await keepers.serve(record.id, (request, call) => this.#answer(request, call));
    this.#started = this.#services.start(this.#over.signal);
    this.#started.catch(() => {});
    void this.#look();
  }

  /** Idempotent. @param isGraceful whether the services are stopped first, each by its signal */
  close(isGraceful: boolean): Promise<void> {
    this.#closing ??= this.#close(isGraceful);
    return this.#closing;
  }

  async #close(isGraceful: boolean): Promise<void> {
    const { runtime, lease, closed } = this.#input;
    this.#over.abort();
    this.#services.release();
    if (isGraceful) await this.#services.stop();
    await Promise.all([...this.#forwards.values()].map((forward) => forward[Symbol.asyncDispose]()));
    await Promise.all([this.#network?.[Symbol.asyncDispose](), this.#endpoints?.[Symbol.asyncDispose]()]);
    await this.#desk?.[Symbol.asyncDispose]();
    await lease[Symbol.asyncDispose]();
    closed();
    this.#isDone();
    await Promise.allSettled([this.#services[Symbol.asyncDispose]()]);
    await Promise.allSettled([runtime[Symbol.asyncDispose]()]);
  }

  /** A record that was made anew from its history knows no numbers. */
  async #assignMissing(): Promise<void> {
    const { assign, state } = this.#input;
    const known = this.#record.ports ?? [];
    const missing = (this.#record.policy.ports ?? []).filter(({ name }) => !known.some((port) => port.name === name));
    if (missing.length === 0) return;
    this.#record = await assign.assign(missing, (assigned) =>
      changeRecord(state, this.#record, ({ ports = [] }) => ({ ports: [...ports, ...assigned] })),
    );
  }

  async #listen(port: AssignedPort): Promise<void> {
    const { forwarder, runtime, assign, state, record } = this.#input;
    const connect = async (inside: number) => {
      const stream = await runtime.connect?.(inside, { signal: this.#over.signal });
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
          repositoryId: record.repositoryId,
          sandbox: record.id,
          data: { name: port.name, from: port.outside, to: now.outside },
        });
      }
    }
  }

  /** Never rejects: a way that is down is told by the status, and tried again by the next look. */
  async #openWays(): Promise<void> {
    await Promise.all([this.#network?.open(), this.#endpoints?.open()]);
  }

  async #look(): Promise<void> {
    const { clock, state, runtime, record } = this.#input;
    const { signal } = this.#over;
    for (;;) {
      try {
        await clock.sleep(LOOK_MS, { signal });
        const now = await state.get(record.id);
        if (!now || now.state === 'deleting' || now.state === 'stopped') return void this.close(false);
        if (now.state !== 'ready') continue;
        await runtime.assurance(); // a session that ended is followed by another one
        await this.#openWays();
      } catch {
        if (signal.aborted) return; // else the state is busy, or the sandbox cannot start: the next look tells
      }
    }
  }

  async *#answer(request: KeeperRequest, options: CallOptions): AsyncGenerator<unknown, void, undefined> {
    switch (request.verb) {
      case 'status':
        yield this.#status();
        return;
      case 'ready':
        await this.#started;
        yield this.#status();
        return;
      case 'ports':
        yield await this.#probePorts();
        return;
      case 'start':
      case 'stop':
      case 'restart': {
        const { verb } = request;
        const all = await this.#asked(request.service);
        // A command of a program is started by its name alone.
        const isNamed = request.service !== undefined || verb === 'stop';
        const asked = all.filter(({ policy }) => isNamed || !policy.isOnce);
        for (const service of verb === 'stop' ? asked.toReversed() : asked) await service[verb]();
        yield this.#status();
        return;
      }
      case 'logs':
        yield* this.#logs(request, options);
        return;
      case 'end':
        try {
          yield await this.#stopServices();
        } finally {
          void this.close(true); // not waited for: it waits for this answer to be read
        }
        return;
      case 'release':
        try {
          yield this.#status();
        } finally {
          void this.close(false);
        }
    }
  }

  async #stopServices(): Promise<KeeperStatus> {
    this.#over.abort();
    await this.#services.stop();
    return this.#status();
  }

  #status(): KeeperStatus {
    return {
      services: this.#services.status(),
      ports: (this.#record.ports ?? []).map((port) => {
        const movedFrom = this.#movedFrom.get(port.name);
        return { ...port, ...(movedFrom !== undefined && { movedFrom }) };
      }),
      ...(this.#network && { network: this.#network.status() }),
      ...(this.#endpoints && { endpoints: this.#endpoints.status() }),
    };
  }

  async #probePorts(): Promise<KeeperStatus> {
    const { ports, ...rest } = this.#status();
    const { runtime } = this.#input;
    const tried = await Promise.all(
      ports.map(async (port) => {
        try {
          await using _open = await runtime.connect?.(port.inside);
          return { ...port, answers: true };
        } catch {
          return { ...port, answers: false };
        }
      }),
    );
    return { ...rest, ports: tried };
  }

  /** In the order in which they start. @throws LitterboxError `SERVICE_NOT_FOUND` */
  async #asked(name: string | undefined): Promise<readonly KeptService[]> {
    const { services } = this.#services;
    if (name === undefined) return [...services.values()];
    if (!services.has(name)) {
      this.#record = await currentRecord(this.#input.state, this.#record);
      this.#services.add(this.#record.policy.services ?? []);
    }
    const service = services.get(name);
    if (service) return [service];
    const names = [...services.keys()];
    throw new LitterboxError(
      'SERVICE_NOT_FOUND',
      `There is no service ${JSON.stringify(name)} in ${this.#record.slug}.`,
      {
        operation: 'sandbox.service',
        hint:
          names.length > 0 ? `It has: ${names.join(', ')}.` : 'It has none: container.services was empty at create.',
      },
    );
  }

  async *#logs(
    { service: name, isFollowing = false, tailBytes = DEFAULT_TAIL_BYTES }: KeeperRequest,
    { signal }: CallOptions,
  ): AsyncGenerator<ServiceOutput, void, undefined> {
    const stop = AbortSignal.any([this.#over.signal, ...(signal ? [signal] : [])]);
    const stopped = new Promise<void>((resolve) => {
      if (stop.aborted) resolve();
      stop.addEventListener('abort', () => resolve(), { once: true });
    });
    const asked = await this.#asked(name);
    const at = new Map(asked.map(({ log, policy }) => [policy.name, Math.max(0, log.totalBytes - tailBytes)]));
    for (let isFirst = true; ; isFirst = false) {
      const more = asked.map(({ log }) => log.more());
      for (const { policy, log } of asked) {
        const { bytes, skippedBytes, next } = log.since(at.get(policy.name) ?? 0);
        at.set(policy.name, next);
        if (!isFirst && skippedBytes > 0)
          yield { service: policy.name, text: `[litterbox: ${skippedBytes} bytes left out]\n` };
        if (bytes.length > 0) yield { service: policy.name, text: decodeRaw(bytes) };
      }
      if (!isFollowing) return;
      await Promise.race([stopped, ...more]);
      if (stop.aborted) return;
    }
  }
}
