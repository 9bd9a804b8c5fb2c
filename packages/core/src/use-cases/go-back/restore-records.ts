import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import type { ProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Clock } from '../../ports/common/clock.ts';
import { type RuntimeStatus } from '../../ports/sandbox/sandbox-provider.ts';
import { type SandboxHistory } from '../../ports/source-control/sandbox-histories.ts';
import { type SourceRepository } from '../../ports/source-control/source-control.ts';
import { type Providers } from '../../ports/sandbox/providers.ts';
import type { SandboxState, StateStore } from '../../ports/state/state-store.ts';
import type { AskProviders } from '../common/ask-providers.ts';
import { decidedWorkdir } from '../decide/decided-workdir.ts';
import type { DecidePolicy } from '../decide/decide-policy.ts';
import { listRuntimes } from '../common/list-runtimes.ts';
import type { ChooseHost } from '../decide/choose-host.ts';

interface Needs {
  readonly state: StateStore;
  readonly providers: Providers;
  readonly askProviders: AskProviders;
  readonly decidePolicy: DecidePolicy;
  readonly chooseHost: ChooseHost;
  readonly clock: Clock;
}

/**
 * Makes the records of sandboxes anew when the state file was lost: from their histories, from what the providers find, and from
 * the configuration as it is now. Limits that were given at create are those of the configuration again.
 */
export class RestoreRecords {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** The repairs, one sentence each. Cheap when the repository has a record, or no history. */
  async restore(repository: SourceRepository, options?: CallOptions): Promise<readonly string[]> {
    if ((await this.#needs.state.list(repository.id, options)).length > 0) return [];
    const done: string[] = [];
    let asked: Promise<FoundRuntimes> | undefined;
    for await (const history of repository.histories(options)) {
      try {
        const { runtimes, silence } = await (asked ??= this.#find(options));
        const found = runtimes.get(history.id);
        if (!found && silence) {
          // It may be there. Without knowing, the record would say that it has to be built anew.
          done.push(`The record of ${history.slug} was lost and could not be rebuilt: ${silence.message}`);
          continue;
        }
        if (found?.state === 'unreachable') {
          done.push(
            `The record of ${history.slug} was lost and could not be rebuilt: ${found.provider} cannot reach its engine now.`,
          );
          continue;
        }
        const state = await this.#restore(repository, history, found, options);
        done.push(`The record of ${history.slug} was lost and has been rebuilt; the sandbox is ${state}.`);
      } catch (error) {
        if (!isLitterboxError(error)) throw error;
        done.push(`The record of ${history.slug} was lost and could not be rebuilt: ${error.message}`);
      }
    }
    return done;
  }

  async #restore(
    repository: SourceRepository,
    { id, slug, base, createdAtMs }: SandboxHistory,
    found: FoundRuntime | undefined,
    options?: CallOptions,
  ): Promise<SandboxState> {
    const decided = await this.#needs.decidePolicy.decide(repository, {}, options);
    const provider = found
      ? await this.#needs.providers.get(found.provider, options)
      : (await this.#needs.chooseHost.choose(decided, options)).provider;
    const { lower: _lower, ...policy } = decided.policyFor(provider);
    // Without a runtime it is as one whose runtime is missing: `recover` builds it from its last revision.
    const state = found?.state === 'paused' || found?.state === 'stopped' ? found.state : 'ready';
    await using runtime = found && found.state !== 'broken' ? await provider.open(id, options) : undefined;
    await this.#needs.state.insert(
      {
        id,
        repositoryId: repository.id,
        repositoryRoot: repository.root,
        slug,
        provider: provider.name,
        state,
        baseCommit: base.commit,
        baseTree: base.tree,
        workdir: runtime?.workdir ?? decidedWorkdir(decided, provider, policy, repository),
        policy: { ...policy, ...(runtime?.live !== undefined && { lower: 'live' as const }) },
        createdAtMs,
        updatedAtMs: this.#needs.clock.wallMs(),
        // No mark: the next call looks at everything, and records what nobody knows to be recorded.
      },
      options,
    );
    return state;
  }

  /** Asks every provider once. */
  async #find(options?: CallOptions): Promise<FoundRuntimes> {
    const answers = await this.#needs.askProviders.each(this.#needs.providers.preferred, listRuntimes, options);
    const runtimes = new Map<SandboxId, FoundRuntime>();
    let silence: Error | undefined;
    for (const [provider, answer] of answers)
      if (answer.state !== 'answered') silence ??= answer.error;
      else for (const [id, status] of answer.value) if (!runtimes.has(id)) runtimes.set(id, { ...status, provider });
    return { runtimes, silence };
  }
}

type FoundRuntime = RuntimeStatus & { readonly provider: ProviderKey };

interface FoundRuntimes {
  readonly runtimes: ReadonlyMap<SandboxId, FoundRuntime>;
  /** Why one of the providers did not say what it has. */
  readonly silence: Error | undefined;
}
