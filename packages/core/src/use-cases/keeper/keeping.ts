import type { HeldSecrets } from '../../channel/held-secrets.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { Keepers } from '../../ports/network/keepers.ts';
import type { PortForwarder } from '../../ports/network/port-forwarder.ts';
import type { SandboxRuntime } from '../../ports/sandbox/sandbox-runtime.ts';
import type { Lease, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { commandVariables } from '../../services/command-variables.ts';
import { SandboxServices } from '../../services/sandbox-services.ts';
import { currentRecord } from '../common/change-record.ts';
import type { OpenEndpoints } from '../network/open-endpoints.ts';
import type { OpenNetwork } from '../network/open-network.ts';
import type { AssignPorts } from './assign-ports.ts';
import { KeeperDesk } from './keeper-desk.ts';
import type { KeeperStatus } from './keeper-status.ts';
import { KeptPorts } from './kept-ports.ts';
import { KeptWay } from './kept-way.ts';

/** How often a keeper looks whether there is still something to keep. Those who end a sandbox tell it; they may be killed. */
const LOOK_MS = 5_000;

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
export class Keeping {
  readonly done: Promise<void>;
  readonly #input: KeepingInput;
  readonly #services: SandboxServices;
  readonly #ports: KeptPorts;
  readonly #over = new AbortController();
  #desk: AsyncDisposable | undefined;
  readonly #network: KeptWay | undefined;
  readonly #endpoints: KeptWay | undefined;
  #started: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #isDone = () => {};

  constructor(input: KeepingInput) {
    this.#input = input;
    const { runtime, clock, state, record, secrets, forwarder, assign } = input;
    const { services = [], supervisor, network, endpoints } = record.policy;
    if (network.run !== 'none') this.#network = new KeptWay((call) => input.network.open(record, runtime, call));
    if (endpoints) this.#endpoints = new KeptWay((call) => input.endpoints.open(record, runtime, call));
    this.#ports = new KeptPorts({ record, runtime, forwarder, assign, state, signal: this.#over.signal });
    this.#services = new SandboxServices({
      services,
      supervisor,
      runtime,
      secrets,
      clock,
      variables: () => commandVariables(this.#ports.record, 'run'),
      isAwake: async () => (await state.get(record.id))?.state === 'ready',
    });
    this.done = new Promise((resolve) => {
      this.#isDone = resolve;
    });
  }

  async open(): Promise<void> {
    const { runtime, keepers, record } = this.#input;
    await runtime.assurance(); // holds the sandbox open
    await this.#ports.open();
    await this.#services.endLeftOver(); // of a keeper that was killed
    await this.#openWays();
    const desk = new KeeperDesk({
      services: this.#services,
      ports: this.#ports,
      over: this.#over.signal,
      current: async () => await currentRecord(this.#input.state, this.#ports.record),
      status: () => this.#status(),
      started: async () => await this.#started,
      stopServices: async () => await this.#stopServices(),
      close: async (isGraceful) => await this.close(isGraceful),
    });
    this.#desk = await keepers.serve(record.id, (request, call) => desk.answer(request, call));
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
    await this.#ports[Symbol.asyncDispose]();
    await Promise.all([this.#network?.[Symbol.asyncDispose](), this.#endpoints?.[Symbol.asyncDispose]()]);
    await this.#desk?.[Symbol.asyncDispose]();
    await lease[Symbol.asyncDispose]();
    closed();
    this.#isDone();
    await Promise.allSettled([this.#services[Symbol.asyncDispose]()]);
    await Promise.allSettled([runtime[Symbol.asyncDispose]()]);
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

  async #stopServices(): Promise<void> {
    this.#over.abort();
    await this.#services.stop();
  }

  #status(): KeeperStatus {
    return {
      services: this.#services.status(),
      ports: this.#ports.status(),
      ...(this.#network && { network: this.#network.status() }),
      ...(this.#endpoints && { endpoints: this.#endpoints.status() }),
    };
  }
}
