import type { CallOptions } from '../ports/call.ts';
import type { RuntimeStatus, SandboxProvider } from '../ports/sandbox-provider.ts';
import type { SandboxRecord, SandboxState, StateStore } from '../ports/state-store.ts';
import type { OpenRepository } from './open-repository.ts';

/** A sandbox as a list shows it. */
export interface SandboxSummary {
  readonly name: string;
  readonly id: string;
  /** `missing`: its runtime is gone, `recover` rebuilds it; `error`: the runtime cannot be asked. */
  readonly state: SandboxState | 'missing' | 'error';
  readonly provider: string;
  readonly repository: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** True when a person allowed it to run without some control. */
  readonly isDegraded: boolean;
  /** Name of the sandbox that it began as a copy of. */
  readonly forkedFrom?: string;
}

/** What there is, told from the records and the runtimes together. */
export class ListSandboxes {
  readonly #repository: OpenRepository;
  readonly #state: StateStore;
  readonly #providers: readonly SandboxProvider[];

  constructor(repository: OpenRepository, state: StateStore, providers: readonly SandboxProvider[]) {
    this.#repository = repository;
    this.#state = state;
    this.#providers = providers;
  }

  /** @param scope this repository's, or every repository's of this user */
  async execute(scope: 'repository' | 'all', options?: CallOptions): Promise<readonly SandboxSummary[]> {
    const records = await this.records(scope, options);
    const statuses = await this.#statuses(records, options);
    return records.map((record) => ({
      name: record.slug,
      id: record.id,
      state: stateOf(record, statuses.get(record.provider)),
      provider: record.provider,
      repository: record.repositoryRoot,
      createdAtMs: record.createdAtMs,
      updatedAtMs: record.updatedAtMs,
      isDegraded: record.policy.allowDegraded,
      ...(record.forkedFrom !== undefined && { forkedFrom: record.forkedFrom }),
    }));
  }

  async records(scope: 'repository' | 'all', options?: CallOptions): Promise<readonly SandboxRecord[]> {
    return await this.#state.list(scope === 'all' ? undefined : (await this.#repository.execute(options)).id, options);
  }

  /** Per provider, the states by id; absent when it cannot be asked. */
  async #statuses(
    records: readonly SandboxRecord[],
    options?: CallOptions,
  ): Promise<ReadonlyMap<string, ReadonlyMap<string, RuntimeStatus['state']>>> {
    const wanted = new Set(records.map(({ provider }) => provider));
    const statuses = new Map<string, ReadonlyMap<string, RuntimeStatus['state']>>();
    for (const provider of this.#providers.filter(({ name }) => wanted.has(name))) {
      const states = new Map<string, RuntimeStatus['state']>();
      try {
        for await (const { id, state } of provider.list(options)) states.set(id, state);
        statuses.set(provider.name, states);
      } catch (error) {
        options?.signal?.throwIfAborted();
        if (!(error instanceof Error)) throw error; // a provider that is down shows as `error`, not as nothing
      }
    }
    return statuses;
  }
}

function stateOf(
  record: SandboxRecord,
  states: ReadonlyMap<string, RuntimeStatus['state']> | undefined,
): SandboxSummary['state'] {
  if (record.state === 'creating' || record.state === 'deleting') return record.state;
  if (!states) return 'error';
  const actual = states.get(record.id);
  if (actual === undefined) return 'missing';
  if (actual === 'broken') return 'error';
  return actual === 'running' ? (record.state === 'setup-failed' ? 'setup-failed' : 'ready') : actual;
}
