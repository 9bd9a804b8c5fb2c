import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { KeeperRequest, Keepers } from '../../ports/network/keepers.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import type { KeepSandbox } from './keep-sandbox.ts';
import type { KeeperStatus } from './keeper-status.ts';
import { needsKeeper } from './needs-keeper.ts';

/** How long who ends a sandbox waits for its services to end, beyond the time that each of them has. */
const END_GRACE_MS = 5_000;

/** How long a keeper that somebody else starts may take to answer. */
const START_MS = 15_000;
const LOOK_AGAIN_MS = 50;

interface Needs {
  readonly keepers: Keepers;
  readonly keepSandbox: KeepSandbox;
}

/** Finds the program that keeps a sandbox, and starts one where there is none. */
export class ReachKeeper {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Makes sure that a sandbox with services, ports or a network is kept. Nothing happens for any other. */
  async ensure(record: SandboxRecord, options?: CallOptions): Promise<void> {
    if (record.state !== 'ready' || !needsKeeper(record)) return;
    if (await this.#ask(record.id, { verb: 'status' }, options)) return;
    if (this.#needs.keepers.launch) await this.#needs.keepers.launch(record.id, secretVariables(record));
    else await this.#needs.keepSandbox.keep(record.id);
  }

  /** The keeper's answers, one after the other. */
  async *values(record: SandboxRecord, request: KeeperRequest, options?: CallOptions): AsyncGenerator<unknown, void> {
    await this.ensure(record, options);
    const untilMs = performance.now() + (record.state === 'ready' ? START_MS : 0);
    for (;;) {
      const answer = await this.#needs.keepers.ask(record.id, request, options);
      if (answer) return yield* answer;
      if (performance.now() > untilMs) break;
      // Somebody else's is just starting: it keeps already, and answers in a moment.
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      options?.signal?.throwIfAborted();
    }
    throw new LitterboxError(
      'UNAVAILABLE',
      `The program that keeps the services, ports and network of ${record.slug} is not running.`,
      {
        operation: 'sandbox.keep',
        hint: advice`Try again; if it happens again: ${step('sandbox-stop', { sandbox: record.slug })}, then ${step('sandbox-resume', { sandbox: record.slug })}.`,
      },
    );
  }

  async status(record: SandboxRecord, request: KeeperRequest, options?: CallOptions): Promise<KeeperStatus> {
    let last: KeeperStatus = { services: [], ports: [] };
    for await (const value of this.values(record, request, options)) last = value as KeeperStatus;
    return last;
  }

  /**
   * Tells the keeper that the sandbox ends. One that does not answer, or hangs, sees it by itself later.
   *
   * @param isGraceful whether services get their stop signal, and time
   */
  async end(record: SandboxRecord, isGraceful: boolean): Promise<void> {
    if (!needsKeeper(record)) return;
    const serviceMs = (record.policy.services ?? []).reduce((sum, { stopTimeoutMs }) => sum + stopTimeoutMs, 0);
    const signal = AbortSignal.timeout(END_GRACE_MS + (isGraceful ? serviceMs : 0));
    try {
      await this.#ask(record.id, { verb: isGraceful ? 'end' : 'release' }, { signal });
    } catch {
      // The next step ends the sandbox with all that runs in it.
    }
  }

  /** The whole answer read; nothing when nobody answers. */
  async #ask(id: SandboxId, request: KeeperRequest, options?: CallOptions): Promise<true | undefined> {
    const answer = await this.#needs.keepers.ask(id, request, options);
    if (!answer) return undefined;
    for await (const _value of answer);
    return true;
  }
}

/** Variables in which its secrets are kept. */
function secretVariables({ policy: { endpoints = [], exposed = [] } }: SandboxRecord): readonly string[] {
  const origins = [...endpoints.map(({ secret }) => secret.origin), ...exposed.map(({ origin }) => origin)];
  return origins.flatMap((origin) => ('environment' in origin ? [origin.environment] : []));
}
