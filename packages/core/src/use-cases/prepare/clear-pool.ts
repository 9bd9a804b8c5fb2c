import { isLitterboxError } from '../../domain/errors/errors.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import type { ProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { PooledSandbox, SandboxPool } from '../../ports/sandbox/sandbox-pool.ts';
import type { Providers } from '../../ports/sandbox/providers.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { StateStore } from '../../ports/state/state-store.ts';
import type { AskProviders, ProviderAnswer } from '../common/ask-providers.ts';
import { audited } from '../common/audited.ts';
import { listRuntimes } from '../common/list-runtimes.ts';
import type { OpenRepository } from '../common/open-repository.ts';

interface Needs {
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly pool: SandboxPool;
  readonly audit: AuditLog;
  readonly providers: Providers;
  readonly askProviders: AskProviders;
  readonly actor: string;
}

/** Looks at the prepared sandboxes of this repository, and removes them. */
export class ClearPool {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async list(options?: CallOptions): Promise<readonly PooledSandbox[]> {
    return await this.#needs.pool.list((await this.#needs.openRepository.open(options)).id, options);
  }

  /**
   * Removes prepared sandboxes of the providers that nobody knows of: the state file was lost. Gives how many. Those of a provider that
   * does not answer stay.
   */
  async countOrphans(options?: CallOptions): Promise<number> {
    let removed = 0;
    const answers = await this.#needs.askProviders.each(
      this.#needs.providers.preferred,
      async (provider, call) => (provider.claim ? await listRuntimes(provider, call) : new Map<never, never>()),
      options,
    );
    for (const [key, answer] of answers) {
      if (answer.state === 'failed') throw answer.error;
      if (answer.state !== 'answered') continue;
      for (const { id, isPooled } of answer.value.values()) {
        // In this order: whoever takes one makes its record before the row goes.
        if (!isPooled || (await this.#needs.pool.get(id, options)) || (await this.#needs.state.get(id, options)))
          continue;
        await (await this.#needs.providers.get(key, options)).remove(id);
        removed += 1;
      }
    }
    return removed;
  }

  /** Removes all but those that another process is just making, taking or removing. Gives those that it removed. */
  async clear(options?: CallOptions): Promise<readonly PooledSandbox[]> {
    const repository = await this.#needs.openRepository.open(options);
    await this.countOrphans(options);
    return await this.#clearOne(repository, () => true, options);
  }

  /** Removes those of the provider that no create would take any more. Gives how many. */
  async stale(
    repository: SourceRepository,
    { name }: SandboxProvider,
    fingerprint: string | undefined,
    options?: CallOptions,
  ): Promise<number> {
    const isStale = (one: PooledSandbox) => one.provider === name && one.fingerprint !== fingerprint;
    return (await this.#clearOne(repository, isStale, options)).length;
  }

  /** Everything of one that this process owns; the row last, so that what is left after a kill is found by it. */
  async removeOne(repository: SourceRepository, { id, provider }: PooledSandbox): Promise<void> {
    await (await this.#needs.providers.get(provider)).remove(id);
    failpoint('pool.after-runtime-removed');
    await repository.remove(id);
    await this.#needs.pool.remove(id);
  }

  /** Leftovers of killed processes in the pool of this repository, and prepared sandboxes without a record. One sentence each. */
  async reconcile(repository: SourceRepository, options?: CallOptions): Promise<readonly string[]> {
    const done: string[] = [];
    const abandoned = (await this.#needs.pool.abandoned(options)).filter((one) => one.repositoryId === repository.id);
    const answers = await this.#answers(abandoned, options);
    for (const left of abandoned) {
      const isLeft = (error: Error) =>
        `Litterbox could not remove a prepared sandbox (${left.provider}) yet: ${error.message}`;
      const answer = answers.get(left.provider);
      if (answer && answer.state !== 'answered') {
        done.push(isLeft(answer.error));
        continue;
      }
      if (!(await this.#needs.pool.condemn(left.id, options))) continue;
      try {
        // One with a record is the sandbox of that by now, or an interrupted create's: the row alone is too much.
        if (await this.#needs.state.get(left.id, options)) await this.#needs.pool.remove(left.id);
        else await this.removeOne(repository, left);
        done.push(`Removed a prepared sandbox (${left.provider}) that was left ${left.state}.`);
      } catch (error) {
        if (!isLitterboxError(error)) throw error;
        done.push(isLeft(error));
      }
    }
    return done;
  }

  async #clearOne(
    repository: SourceRepository,
    isWanted: (one: PooledSandbox) => boolean,
    options?: CallOptions,
  ): Promise<readonly PooledSandbox[]> {
    const removed: PooledSandbox[] = [];
    const wanted = (await this.#needs.pool.list(repository.id, options)).filter(isWanted);
    const answers = await this.#answers(wanted, options);
    for (const one of wanted) {
      // One that this program does not have, or that does not answer, keeps what it prepared until it does.
      if (answers.get(one.provider)?.state !== 'answered' || !(await this.#needs.pool.condemn(one.id, options)))
        continue;
      failpoint('pool.after-condemned');
      await audited(
        this.#needs.audit,
        {
          operation: 'pool-remove',
          actor: this.#needs.actor,
          repositoryId: repository.id,
          sandbox: one.id,
          input: { provider: one.provider },
        },
        () => this.removeOne(repository, one),
      );
      removed.push(one);
    }
    return removed;
  }

  /** Whether the providers answer that prepared these. */
  async #answers(
    prepared: readonly PooledSandbox[],
    options?: CallOptions,
  ): Promise<ReadonlyMap<ProviderKey, ProviderAnswer<unknown>>> {
    return await this.#needs.askProviders.each(
      prepared.map(({ provider }) => provider),
      listRuntimes,
      options,
    );
  }
}
