import { ExecChannel } from '../channel/exec-channel.ts';
import { type HeldSecrets, NO_SECRETS } from '../channel/held-secrets.ts';
import type { ServicePolicy, SupervisorName } from '../domain/sandbox/policy.ts';
import type { KeptService, ServiceSetting, ServiceStatus } from './kept-service.ts';
import { killServices } from './kill-marked.ts';
import { Service } from './service.ts';
import { SupervisedServices } from './supervised-services.ts';

/** What the services of one sandbox are run with: everything of {@link ServiceSetting} that is not made of it. */
export interface SandboxServicesInput extends Omit<ServiceSetting, 'channel' | 'secrets'> {
  /** Taken out of what services print. @defaultValue none */
  readonly secrets?: HeldSecrets;
  /** In the order in which they start. */
  readonly services: readonly ServicePolicy[];
  /** What of the image looks after them. @defaultValue we do */
  readonly supervisor?: SupervisorName | undefined;
}

/**
 * All services of one sandbox, run over its runtime alone. Whoever has it answers for them: one program at a time.
 * Disposing ends nothing that runs and leaves the runtime open.
 */
export class SandboxServices implements AsyncDisposable {
  /** By name, in the order in which they start. */
  readonly services: Map<string, KeptService>;
  readonly #channel: ExecChannel;
  readonly #setting: ServiceSetting;

  constructor({ services, supervisor, secrets = NO_SECRETS, ...rest }: SandboxServicesInput) {
    this.#channel = new ExecChannel(rest.runtime, undefined, secrets);
    const setting = { ...rest, secrets, channel: this.#channel };
    this.#setting = setting;
    const lasting = services.filter(({ isOnce }) => !isOnce);
    this.services = new Map(supervisor ? new SupervisedServices(supervisor, lasting, setting).services : []);
    this.add(services); // those of a program are looked after by us in any case
  }

  /** More of them, which nobody has started yet. Those that are known stay as they are. */
  add(services: readonly ServicePolicy[]): void {
    for (const policy of services)
      if (!this.services.has(policy.name)) this.services.set(policy.name, new Service(policy, this.#setting));
  }

  status(): readonly ServiceStatus[] {
    return [...this.services.values()].map((service) => service.status());
  }

  /** Ends what runs in the sandbox as a service: of somebody before who was killed. */
  async endLeftOver(): Promise<void> {
    if (this.services.size > 0) await killServices(this.#channel);
  }

  /**
   * Starts each when those before it are up, or are known not to come up at once.
   *
   * @param over aborted when no further one is to be started
   */
  async start(over?: AbortSignal): Promise<void> {
    // What ends processes has to be there before a service can fill the sandbox: then it cannot be started any more.
    if (this.services.size > 0) await this.#channel.sweep(':');
    const settled = new Map<string, Promise<void>>();
    for (const service of this.services.values()) {
      const { name, after, isOnce } = service.policy;
      if (isOnce) continue;
      settled.set(
        name,
        (async () => {
          for (const before of after) await settled.get(before);
          if (!over?.aborted) await service.start();
        })(),
      );
    }
    await Promise.all(settled.values());
  }

  /** Each by its signal, the last first. */
  async stop(): Promise<void> {
    for (const service of [...this.services.values()].reverse()) await service.stop().catch(() => {});
  }

  /** Nothing is looked at or started again from now on. Ends nothing inside. */
  release(): void {
    for (const service of this.services.values()) service.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.#channel[Symbol.asyncDispose]();
  }
}
