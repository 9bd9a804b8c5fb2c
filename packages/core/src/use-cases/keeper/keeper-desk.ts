import { LitterboxError } from '../../domain/errors/errors.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { KeeperRequest } from '../../ports/network/keepers.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import type { KeptService } from '../../services/kept-service.ts';
import type { SandboxServices } from '../../services/sandbox-services.ts';
import type { KeeperStatus, ServiceOutput } from './keeper-status.ts';
import type { KeptPorts } from './kept-ports.ts';

const DEFAULT_TAIL_BYTES = 64 * 1024;

/** The part of the keeping that answers need. */
interface Needs {
  readonly services: SandboxServices;
  readonly ports: KeptPorts;
  /** Ended with the keeping. */
  readonly over: AbortSignal;
  /** The record as it is now: a program may have added services. */
  readonly current: () => Promise<SandboxRecord>;
  readonly status: () => KeeperStatus;
  /** All services have been started. */
  readonly started: () => Promise<unknown>;
  readonly stopServices: () => Promise<void>;
  /** @param isGraceful whether the services are stopped first */
  readonly close: (isGraceful: boolean) => Promise<void>;
}

/** Answers programs that ask the keeper of a sandbox. */
export class KeeperDesk {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async *answer(request: KeeperRequest, options: CallOptions): AsyncGenerator<unknown, void, undefined> {
    switch (request.verb) {
      case 'status':
        yield this.#needs.status();
        return;
      case 'ready':
        await this.#needs.started();
        yield this.#needs.status();
        return;
      case 'ports':
        yield { ...this.#needs.status(), ports: await this.#needs.ports.probe() };
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
        yield this.#needs.status();
        return;
      }
      case 'logs':
        yield* this.#logs(request, options);
        return;
      case 'end':
        try {
          await this.#needs.stopServices();
          yield this.#needs.status();
        } finally {
          void this.#needs.close(true); // not waited for: it waits for this answer to be read
        }
        return;
      case 'release':
        try {
          yield this.#needs.status();
        } finally {
          void this.#needs.close(false);
        }
    }
  }

  /** In the order in which they start. @throws LitterboxError `SERVICE_NOT_FOUND` */
  async #asked(name: string | undefined): Promise<readonly KeptService[]> {
    const { services } = this.#needs.services;
    if (name === undefined) return [...services.values()];
    if (!services.has(name)) {
      const { policy } = await this.#needs.current();
      this.#needs.services.add(policy.services ?? []);
    }
    const service = services.get(name);
    if (service) return [service];
    const names = [...services.keys()];
    throw new LitterboxError(
      'SERVICE_NOT_FOUND',
      `There is no service ${JSON.stringify(name)} in ${this.#needs.ports.record.slug}.`,
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
    const stop = AbortSignal.any([this.#needs.over, ...(signal ? [signal] : [])]);
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
