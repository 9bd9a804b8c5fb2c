import { type OpenedSandbox, openedSandbox } from '../../channel/opened-sandbox.ts';
import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { advice, type Hint, step } from '../../domain/errors/next-step.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Providers } from '../../ports/sandbox/providers.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SandboxRuntime } from '../../ports/sandbox/sandbox-runtime.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import { assertSteady } from './live-tree.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { HoldSecrets } from '../common/hold-secrets.ts';
import type { ReachKeeper } from '../keeper/reach-keeper.ts';

interface Opening {
  readonly sandbox: Promise<OpenedSandbox>;
  readonly replacements: number;
}

interface Needs {
  readonly providers: Providers;
  readonly openRepository: OpenRepository;
  readonly holdSecrets: HoldSecrets;
  readonly reachKeeper?: ReachKeeper;
}

/** The sandboxes this process has open, each once. */
export class OpenSandboxes {
  readonly #needs: Needs;
  readonly #opened = new Map<SandboxId, Opening>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `UNAVAILABLE` when this program does not have it, or its machine does not answer. */
  async providerOf({ provider }: Pick<SandboxRecord, 'provider'>, options?: CallOptions): Promise<SandboxProvider> {
    try {
      return await this.#needs.providers.get(provider, options);
    } catch (cause) {
      if (!isLitterboxError(cause, 'INVALID_ARGUMENT')) throw cause;
      throw new LitterboxError(
        'UNAVAILABLE',
        `The provider ${provider} made the sandbox, and this program does not have it.`,
        {
          operation: 'sandbox.open',
          provider,
          hint: cause.details.next ?? cause.details.hint ?? `It has: ${this.#needs.providers.preferred.join(', ')}.`,
        },
        { cause },
      );
    }
  }

  /**
   * @throws LitterboxError by the record's state: `SANDBOX_BUSY`, `SANDBOX_PAUSED`, `SANDBOX_STOPPED`, `SANDBOX_DELETING`,
   *   `SANDBOX_RUNTIME_MISSING`; `LIVE_TREE_CHANGED` when it stands on the working tree and that is another one by now
   */
  get(record: SandboxRecord, options?: CallOptions): Promise<OpenedSandbox> {
    return this.#steady(record, this.getDrifted(record, options), options);
  }

  /** As {@link get}, whatever became of the working tree: for those who save what the sandbox holds. */
  getDrifted(record: SandboxRecord, options?: CallOptions): Promise<OpenedSandbox> {
    options?.signal?.throwIfAborted();
    assertUsable(record);
    return this.#open(record);
  }

  /** A way to the network that was lost since the sandbox was opened is there again; who cannot have it is told by what it runs. */
  async reconnect(record: SandboxRecord, options?: CallOptions): Promise<void> {
    if (record.policy.network.run === 'none' && !record.policy.endpoints) return;
    await this.#needs.reachKeeper?.ensure(record, options).catch(() => {});
    options?.signal?.throwIfAborted();
  }

  /** As {@link get}, whatever the state: for those who change it. */
  async runtime(record: SandboxRecord): Promise<SandboxRuntime> {
    return (await this.#open(record)).runtime;
  }

  /**
   * Takes over a runtime that was just made, and closes it when it throws.
   *
   * @throws LitterboxError for the first of its secrets that cannot be used
   */
  async adopt(
    record: Pick<SandboxRecord, 'id' | 'policy' | 'replacements'>,
    runtime: SandboxRuntime,
    options?: CallOptions,
  ): Promise<OpenedSandbox> {
    const sandbox = this.#holding(record, runtime, false, options);
    const opening = { sandbox, replacements: replacementsOf(record) };
    this.#opened.set(record.id, opening);
    return await this.#kept(record.id, opening);
  }

  async close(id: SandboxId): Promise<void> {
    const opening = this.#opened.get(id);
    this.#opened.delete(id);
    await closed(opening);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#opened.keys()].map((id) => this.close(id)));
  }

  async #steady(record: SandboxRecord, opening: Promise<OpenedSandbox>, options?: CallOptions): Promise<OpenedSandbox> {
    const opened = await opening;
    const { runtime } = opened;
    if (runtime.live !== undefined)
      await assertSteady({ record, runtime }, await this.#needs.openRepository.open(options), options);
    return opened;
  }

  #open(record: SandboxRecord): Promise<OpenedSandbox> {
    const known = this.#opened.get(record.id);
    const replacements = replacementsOf(record);
    if (known && known.replacements >= replacements) return known.sandbox;
    const sandbox = (async () => {
      // Another program replaced the runtime: this one is gone.
      await closed(known);
      const provider = await this.providerOf(record);
      const runtime = await provider.open(record.id).catch((cause: unknown) => {
        if (!isLitterboxError(cause, 'NOT_FOUND')) throw cause;
        throw new LitterboxError(
          'SANDBOX_RUNTIME_MISSING',
          `The provider no longer has the sandbox ${record.slug}.`,
          {
            operation: 'sandbox.open',
            provider: record.provider,
            hint: advice`Rebuild it from its last revision: ${step('sandbox-recover', { sandbox: record.slug })}.`,
          },
          { cause },
        );
      });
      // A keeper that was killed is followed by another one. Who asks for services or ports is told what is wrong with it.
      await this.#needs.reachKeeper?.ensure(record).catch(() => {});
      return await this.#holding(record, runtime, true);
    })();
    const opening = { sandbox, replacements };
    this.#opened.set(record.id, opening);
    return this.#kept(record.id, opening);
  }

  /** Without its secrets nothing that it prints could be passed on. */
  async #holding(
    record: Pick<SandboxRecord, 'policy'>,
    runtime: SandboxRuntime,
    mayHoldUnrecorded: boolean,
    options?: CallOptions,
  ): Promise<OpenedSandbox> {
    try {
      return openedSandbox(runtime, mayHoldUnrecorded, await this.#needs.holdSecrets.read(record, options));
    } catch (error) {
      await runtime[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** One that could not be opened is opened anew by who asks next. */
  #kept(id: SandboxId, opening: Opening): Promise<OpenedSandbox> {
    opening.sandbox.catch(() => {
      if (this.#opened.get(id) === opening) this.#opened.delete(id);
    });
    return opening.sandbox;
  }
}

const replacementsOf = ({ replacements = 0 }: Pick<SandboxRecord, 'replacements'>): number => replacements;

async function closed(opening: Opening | undefined): Promise<void> {
  const opened = await opening?.sandbox.catch(() => undefined);
  await opened?.channel[Symbol.asyncDispose]();
  await opened?.runtime[Symbol.asyncDispose]();
}

/** Refuses a sandbox that is being made or deleted, whose history may be there in part. Paused and stopped ones have all of theirs. */
export function assertWhole(record: SandboxRecord): void {
  if (record.state === 'creating' || record.state === 'deleting') assertUsable(record);
}

/** Refuses by the state that the record tells. */
export function assertUsable({ state, slug }: SandboxRecord): void {
  const refuse = (
    code: 'SANDBOX_BUSY' | 'SANDBOX_PAUSED' | 'SANDBOX_STOPPED' | 'SANDBOX_DELETING',
    message: string,
    hint: Hint,
  ) => new LitterboxError(code, message, { operation: 'sandbox.open', hint });
  switch (state) {
    case 'ready':
    case 'setup-failed': // open for inspection: its state shows in list
      return;
    case 'creating':
      throw refuse(
        'SANDBOX_BUSY',
        `The sandbox ${slug} is still being created, or its creation was interrupted.`,
        advice`Wait for it, or remove it: ${step('sandbox-delete', { sandbox: slug, force: true })}.`,
      );
    case 'paused':
      throw refuse(
        'SANDBOX_PAUSED',
        `The sandbox ${slug} is paused.`,
        advice`Run ${step('sandbox-resume', { sandbox: slug })}.`,
      );
    case 'stopped':
      throw refuse(
        'SANDBOX_STOPPED',
        `The sandbox ${slug} is stopped.`,
        advice`Run ${step('sandbox-resume', { sandbox: slug })}.`,
      );
    case 'deleting':
      throw refuse(
        'SANDBOX_DELETING',
        `The sandbox ${slug} is being deleted, or its deletion was interrupted.`,
        advice`Run ${step('sandbox-delete', { sandbox: slug })} again.`,
      );
  }
}
