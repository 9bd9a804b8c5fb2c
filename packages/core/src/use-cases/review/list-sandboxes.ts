import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import { hasLabels } from '../../domain/text/labels.ts';
import { parseProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import { type RuntimeStatus } from '../../ports/sandbox/sandbox-provider.ts';
import { type RecordedWork } from '../../ports/source-control/sandbox-histories.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { SandboxRecord, SandboxState, StateStore } from '../../ports/state/state-store.ts';
import type { AskProviders, ProviderAnswer } from '../common/ask-providers.ts';
import { listRuntimes } from '../common/list-runtimes.ts';
import { agentIn } from '../session/seat-agent.ts';

/**
 * The state of a sandbox as record and runtime tell it together. `missing`: its provider does not have it any more, and `recover`
 * rebuilds it; `unreachable`: its engine or machine cannot be reached now; `slow`: that said nothing in time; `error`: what is left of it
 * cannot be used, or its provider cannot say. A sandbox that is `unreachable` or `slow` has not been changed.
 */
export type ShownState = SandboxState | 'missing' | 'unreachable' | 'slow' | 'error';

/** A sandbox as a list shows it. */
export interface SandboxSummary {
  /** Its name in the repository, a slug. */
  readonly name: string;
  /** Its name for good: no other sandbox ever has it. */
  readonly id: string;
  /** The state of record and runtime together. */
  readonly state: ShownState;
  /** The key of its provider: `docker`, `docker@build-box`. */
  readonly provider: string;
  /** The machine that it is on; `local` is this one. */
  readonly host: string;
  /** Absolute path of the work tree that it was made from. */
  readonly repository: string;
  /** Milliseconds of the wall clock since 1970. */
  readonly createdAtMs: number;
  /** Milliseconds of the wall clock since 1970. */
  readonly updatedAtMs: number;
  /** True when a person allowed it to run without some control. */
  readonly isDegraded: boolean;
  /** Name of the sandbox that it began as a copy of. */
  readonly forkedFrom?: string;
  /** Words of whoever made it, by their names. Absent when there are none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** It goes with the program that made it. */
  readonly isEphemeral?: true;
  /** Counts of what was recorded. Absent for sandboxes of other repositories, and where the history cannot be read. */
  readonly work?: RecordedWork;
  /** Merges of it that will conflict, by what is known of that at once. Absent when there are none, and for sandboxes of other repositories. */
  readonly conflicts?: ListedConflicts;
  /** The call that began last; calls are of agents, programs and people alike. */
  readonly lastCall?: LastCall;
  /** The agent that works in it now, as `litterbox with` seats one. */
  readonly agent?: string;
}

/** With what the work of a sandbox will conflict, as it is recorded. */
export interface ListedConflicts {
  /** Files in which it conflicts with the branch that is checked out. */
  readonly branchFiles: number;
  /** Names of other sandboxes that it conflicts with. */
  readonly sandboxes: readonly string[];
}

/** A call in a sandbox, as a list shows the one that came last. */
export interface LastCall {
  /** Such as `sandbox-run`. */
  readonly operation: string;
  /** The door of the call: `cli`, `library`, `mcp`. */
  readonly actor: string;
  /** When it ended, or began where it goes on. */
  readonly atMs: number;
  /** It has not ended. */
  readonly isRunning: boolean;
}

/** Which sandboxes are listed. */
export interface ListOptions extends CallOptions {
  /** Only those that have all of these. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** A list waits for its providers meanwhile. */
const FORECAST_MS = 250;
/** As many as a forecast compares. */
const MAX_FORECAST = 40;

/** A list asks no more of others, so that less than they are can tell it. */
export interface ListNeeds {
  readonly openRepository: {
    open(options?: CallOptions): Promise<Pick<SourceRepository, 'id' | 'works' | 'forecast'>>;
  };
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly askProviders: Pick<AskProviders, 'each' | 'one'>;
}

/** The sandboxes that exist, by the records and the runtimes together. */
export class ListSandboxes {
  readonly #needs: ListNeeds;

  constructor(needs: ListNeeds) {
    this.#needs = needs;
  }

  /** @param scope this repository's, or every repository's of this user */
  async list(
    scope: 'repository' | 'all',
    { labels = {}, ...options }: ListOptions = {},
  ): Promise<readonly SandboxSummary[]> {
    const records = (await this.records(scope, options)).filter((record) => hasLabels(record.labels, labels));
    const [statuses, works, calls, conflicts] = await Promise.all([
      this.#needs.askProviders.each(
        records.map(({ provider }) => provider),
        listRuntimes,
        options,
      ),
      scope === 'all' ? new Map<SandboxId, RecordedWork>() : this.#works(records, options),
      this.#lastCalls(records, options),
      scope === 'all' ? new Map<SandboxId, ListedConflicts>() : this.#conflicts(records, options),
    ]);
    const agents = await this.#agents(records, calls);
    return records.map((record) => ({
      name: record.slug,
      id: record.id,
      state: stateOf(record, statuses.get(record.provider)),
      provider: record.provider,
      host: parseProviderKey(record.provider).host,
      repository: record.repositoryRoot,
      createdAtMs: record.createdAtMs,
      updatedAtMs: record.updatedAtMs,
      isDegraded: record.policy.allowDegraded,
      ...(record.forkedFrom !== undefined && { forkedFrom: record.forkedFrom }),
      ...optional('labels', record.labels),
      ...optional('isEphemeral', record.isEphemeral),
      ...optional('work', works.get(record.id)),
      ...optional('conflicts', conflicts.get(record.id)),
      ...optional('lastCall', calls.get(record.id)),
      ...optional('agent', agents.get(record.id)),
    }));
  }

  /** From the histories alone: no runtime is asked, so that none that sleeps wakes up. */
  async #works(
    records: readonly SandboxRecord[],
    options?: CallOptions,
  ): Promise<ReadonlyMap<SandboxId, RecordedWork>> {
    const made = records.filter(({ state }) => state !== 'creating' && state !== 'deleting').map(({ id }) => id);
    if (made.length === 0) return new Map();
    const repository = await this.#needs.openRepository.open(options);
    return (await unlessBroken(repository.works(made, options), options)) ?? new Map();
  }

  /** Conflicts that are known, and a little more each time. */
  async #conflicts(
    records: readonly SandboxRecord[],
    options?: CallOptions,
  ): Promise<ReadonlyMap<SandboxId, ListedConflicts>> {
    const made = records.filter(({ state }) => state !== 'creating' && state !== 'deleting').slice(-MAX_FORECAST);
    if (made.length === 0) return new Map();
    const repository = await this.#needs.openRepository.open(options);
    const asked = repository.forecast(
      made.map(({ id }) => id),
      { ...options, budgetMs: FORECAST_MS },
    );
    const found = (await unlessBroken(asked, options))?.conflicts ?? [];
    const names = new Map(made.map(({ id, slug }) => [id, slug] as const));
    const listed = new Map<SandboxId, ListedConflicts>();
    for (const { sandbox, other, paths } of found)
      for (const [id, met] of [
        [sandbox, other] as const,
        ...(other === undefined ? [] : [[other, sandbox] as const]),
      ]) {
        const { branchFiles, sandboxes } = listed.get(id) ?? { branchFiles: 0, sandboxes: [] };
        listed.set(
          id,
          met === undefined
            ? { branchFiles: paths.length, sandboxes }
            : { branchFiles, sandboxes: [...sandboxes, names.get(met) ?? met] },
        );
      }
    return listed;
  }

  async #lastCalls(
    records: readonly SandboxRecord[],
    options?: CallOptions,
  ): Promise<ReadonlyMap<SandboxId, LastCall>> {
    const calls = new Map<SandboxId, LastCall>();
    for (const { id } of records) {
      const [last] = (await unlessBroken(this.#needs.audit.entries({ sandbox: id, limit: 1 }, options), options)) ?? [];
      if (!last) continue;
      const { operation, actor, atMs, durationMs = 0, outcome } = last;
      calls.set(id, { operation, actor, atMs: atMs + Math.round(durationMs), isRunning: outcome === 'running' });
    }
    return calls;
  }

  /** Only where an agent called last: taking a seat is a call too. */
  async #agents(
    records: readonly SandboxRecord[],
    calls: ReadonlyMap<SandboxId, LastCall>,
  ): Promise<ReadonlyMap<SandboxId, string>> {
    // An agent inside is one call, and a person who looks meanwhile calls after it.
    const called = records.filter(
      ({ id, policy }) => policy.endpoints || !['cli', 'library', undefined].includes(calls.get(id)?.actor),
    );
    const found = await Promise.all(
      called.map(async (record) => [record.id, await agentIn(this.#needs.state, record)] as const),
    );
    return new Map(found.flatMap(([id, agent]) => (agent === undefined ? [] : [[id, agent] as const])));
  }

  async records(scope: 'repository' | 'all', options?: CallOptions): Promise<readonly SandboxRecord[]> {
    return await this.#needs.state.list(
      scope === 'all' ? undefined : (await this.#needs.openRepository.open(options)).id,
      options,
    );
  }

  /** For one sandbox, whose provider is asked. */
  async state(record: SandboxRecord, options?: CallOptions): Promise<ShownState> {
    if (record.state === 'creating' || record.state === 'deleting') return record.state;
    return stateOf(record, await this.#needs.askProviders.one(record.provider, listRuntimes, options));
  }
}

function stateOf(
  record: SandboxRecord,
  answer: ProviderAnswer<ReadonlyMap<SandboxId, RuntimeStatus>> | undefined,
): ShownState {
  if (record.state === 'creating' || record.state === 'deleting') return record.state;
  if (answer?.state === 'late') return 'slow';
  if (answer?.state !== 'answered') return answer?.state === 'unreachable' ? 'unreachable' : 'error';
  const actual = answer.value.get(record.id)?.state;
  if (actual === undefined) return 'missing';
  if (actual === 'broken') return 'error';
  return actual === 'running' ? (record.state === 'setup-failed' ? 'setup-failed' : 'ready') : actual;
}

/** A list leaves out the rows that cannot be read. */
async function unlessBroken<Value>(reading: Promise<Value>, options?: CallOptions): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    options?.signal?.throwIfAborted();
    if (!isLitterboxError(error)) throw error;
    return undefined;
  }
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [Name in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [Name in Key]?: Value };
}
