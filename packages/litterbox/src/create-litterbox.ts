import {
  type Assurance,
  AttachProcess,
  type AttachedProcess,
  type AttachInput,
  type AuditEntry,
  type CallOptions,
  ChangeRunState,
  ChooseProvider,
  CreateSandbox,
  type CreateSandboxInput,
  type CreateSandboxResult,
  CutMilestone,
  DeleteSandbox,
  type DiffOptions,
  type FileChange,
  FindSandbox,
  IntegrateChanges,
  type IntegrateInput,
  type IntegrateResult,
  type IntegrationPlan,
  type LitterboxEvent,
  ListSandboxes,
  type LogEntry,
  type Milestone,
  OpenRepository,
  OpenSandboxes,
  type ProbeReport,
  type ProgressOptions,
  type ReadConfig,
  Reconcile,
  RestoreRevision,
  type RestoreResult,
  type RunState,
  type RunStateResult,
  type SandboxProvider,
  type SandboxRecord,
  type SandboxSummary,
  TrustConfig,
} from '@litterbox/core';
import type { UseCases } from './composition-root.ts';
import type { LitterboxOptions, LitterboxParts } from './litterbox-options.ts';
import { loadParts } from './load-parts.ts';
import { Sandbox } from './sandbox.ts';

/** Names a sandbox of this repository by its name; a name is slugified as at create. */
export interface Litterbox extends AsyncDisposable {
  /** Makes a sandbox. What it left out of the base and what the configuration says wrongly is in `created`. */
  create(
    input: CreateSandboxInput,
    options?: ProgressOptions,
  ): Promise<Sandbox & { readonly created: CreateSandboxResult }>;
  open(name: string, options?: CallOptions): Promise<Sandbox>;
  list(scope?: 'repository' | 'all', options?: CallOptions): Promise<readonly SandboxSummary[]>;
  attach(input: AttachInput, options?: CallOptions): Promise<AttachedProcess>;
  log(name: string, options?: CallOptions & { readonly limit?: number }): AsyncIterable<LogEntry>;
  /** The patch from base to tip, or of one revision; hostile bytes. */
  diff(
    name: string,
    options?: CallOptions & { readonly revision?: string; readonly paths?: readonly string[] },
  ): AsyncIterable<Uint8Array>;
  changes(
    name: string,
    options?: CallOptions & { readonly revision?: string; readonly paths?: readonly string[] },
  ): Promise<readonly FileChange[]>;
  milestone(name: string, message: string, options?: CallOptions): Promise<Milestone | undefined>;
  /** What an apply or merge would do, without doing it. */
  plan(input: IntegrateInput, options?: ProgressOptions): Promise<IntegrationPlan>;
  /** Brings the changes into index and work tree; the sandbox stays. */
  apply(
    name: string,
    input?: Omit<IntegrateInput, 'sandbox' | 'integration'>,
    options?: ProgressOptions,
  ): Promise<IntegrateResult>;
  /** Merges as `git merge` does, then deletes the sandbox. */
  merge(
    name: string,
    input?: Omit<IntegrateInput, 'sandbox' | 'integration'>,
    options?: ProgressOptions,
  ): Promise<IntegrateResult>;
  delete(name: string, input?: { readonly force?: boolean }, options?: CallOptions): Promise<SandboxRecord>;
  setRunState(name: string, state: RunState, options?: CallOptions): Promise<RunStateResult>;
  setAllRunStates(
    scope: 'repository' | 'all',
    state: RunState,
    options?: CallOptions,
  ): Promise<readonly RunStateResult[]>;
  /** Puts the workspace to a revision, by number or commit. */
  restore(name: string, revision: string, options?: ProgressOptions): Promise<RestoreResult>;
  /** Rebuilds a runtime that was lost, from the last revision. */
  recover(name: string, options?: ProgressOptions): Promise<SandboxRecord>;
  worktree(name: string, options?: CallOptions): Promise<{ readonly directory: string; readonly files: number }>;
  /** What isolation is in force for a sandbox, as read back when its session started. */
  assurance(
    name: string,
    options?: CallOptions,
  ): Promise<{ readonly record: SandboxRecord; readonly assurance: Assurance | undefined }>;
  /** What every provider finds on this machine, in order of preference. */
  probe(options?: CallOptions): Promise<readonly { readonly provider: string; readonly report: ProbeReport }[]>;
  trustStatus(options?: CallOptions): Promise<ReadConfig>;
  /** Agrees to the configuration that {@link trustStatus} showed. */
  trust(contentHash: string, options?: CallOptions): Promise<ReadConfig>;
  audit(
    filter?: { readonly name?: string; readonly limit?: number },
    options?: CallOptions,
  ): Promise<readonly AuditEntry[]>;
  verifyAudit(options?: CallOptions): Promise<{ readonly entries: number }>;
  events(after: number, options?: CallOptions & { readonly limit?: number }): Promise<readonly LitterboxEvent[]>;
  /** Finishes or undoes what killed processes left; one sentence for each thing done. */
  reconcile(options?: CallOptions): Promise<readonly string[]>;
}

interface Wired {
  readonly useCases: UseCases;
  readonly parts: LitterboxParts;
  readonly providers: readonly SandboxProvider[];
}

/** Synchronous and free of I/O: parts are loaded and opened by the first call that needs them. */
export function createLitterbox(options: LitterboxOptions): Litterbox {
  let wiring: Promise<Wired> | undefined;
  const wired = (): Promise<Wired> => {
    wiring ??= wire(options);
    return wiring;
  };
  const use = async <UseCase extends object>(useCase: new (...args: never[]) => UseCase): Promise<UseCase> =>
    (await wired()).useCases.get(useCase);
  const repository = async (call?: CallOptions) => (await use(OpenRepository)).execute(call);
  const find = async (name: string, call?: CallOptions) => (await use(FindSandbox)).execute(name, call);
  const diffOptions = async (
    id: SandboxRecord['id'],
    { revision, ...rest }: CallOptions & { readonly revision?: string; readonly paths?: readonly string[] },
  ): Promise<DiffOptions> =>
    revision === undefined
      ? rest
      : { ...rest, revision: (await (await repository(rest)).resolve(id, revision, rest)).commit };

  return {
    async create(input, call) {
      const created = await (await use(CreateSandbox)).execute(input, call);
      return Object.assign(new Sandbox((await wired()).useCases, created.record), { created });
    },
    open: async (name, call) => new Sandbox((await wired()).useCases, await find(name, call)),
    list: async (scope = 'repository', call) => (await use(ListSandboxes)).execute(scope, call),
    attach: async (input, call) => (await use(AttachProcess)).execute(input, call),
    async *log(name, call) {
      const { id } = await find(name, call);
      yield* (await repository(call)).log(id, call);
    },
    async *diff(name, call = {}) {
      const { id } = await find(name, call);
      yield* (await repository(call)).diff(id, await diffOptions(id, call));
    },
    async changes(name, call = {}) {
      const { id } = await find(name, call);
      return await (await repository(call)).changes(id, await diffOptions(id, call));
    },
    milestone: async (name, message, call) => (await use(CutMilestone)).execute(name, message, call),
    plan: async (input, call) => (await use(IntegrateChanges)).plan(input, call),
    apply: async (name, input, call) =>
      (await use(IntegrateChanges)).execute({ ...input, sandbox: name, integration: 'apply' }, call),
    merge: async (name, input, call) =>
      (await use(IntegrateChanges)).execute({ ...input, sandbox: name, integration: 'merge' }, call),
    delete: async (name, input = {}, call) => (await use(DeleteSandbox)).execute(name, input, call),
    setRunState: async (name, state, call) => (await use(ChangeRunState)).execute(name, state, call),
    async setAllRunStates(scope, state, call) {
      return await (await use(ChangeRunState)).all(await (await use(ListSandboxes)).records(scope, call), state, call);
    },
    restore: async (name, revision, call) => (await use(RestoreRevision)).restore(name, revision, call),
    recover: async (name, call) => (await use(RestoreRevision)).recover(name, call),
    async worktree(name, call) {
      const { id } = await find(name, call);
      return await (await repository(call)).exportTree(id, call);
    },
    async assurance(name, call) {
      const record = await find(name, call);
      return { record, assurance: record.assurance };
    },
    async probe(call) {
      const { all } = await use(ChooseProvider);
      return await Promise.all(
        all.map(async (provider) => ({ provider: provider.name, report: await provider.probe(call) })),
      );
    },
    trustStatus: async (call) => (await use(TrustConfig)).status(call),
    trust: async (contentHash, call) => (await use(TrustConfig)).execute(contentHash, call),
    async audit({ name, limit } = {}, call) {
      const { parts } = await wired();
      const { id } = await repository(call);
      const sandbox = name === undefined ? {} : { sandbox: (await find(name, call)).id };
      return await parts.audit.entries({ repositoryId: id, ...sandbox, ...(limit !== undefined && { limit }) }, call);
    },
    verifyAudit: async (call) => (await wired()).parts.audit.verify(call),
    events: async (after, call) => (await wired()).parts.state.events(after, call),
    reconcile: async (call) => (await use(Reconcile)).execute(call),
    async [Symbol.asyncDispose]() {
      if (!wiring) return;
      const { useCases, parts, providers } = await wiring;
      await closeAll([
        () => useCases.get(OpenSandboxes).closeAll(),
        ...providers.map((provider) => () => provider[Symbol.asyncDispose]()),
        () => useCases.get(OpenRepository).close(),
        () => parts.sourceControl[Symbol.asyncDispose](),
        () => parts.state[Symbol.asyncDispose](),
        () => parts.host[Symbol.asyncDispose](),
      ]);
    },
  };
}

async function wire(options: LitterboxOptions): Promise<Wired> {
  const [parts, { compose }] = await Promise.all([loadParts(options), import('./composition-root.ts')]);
  const { host, stateDirectory } = parts;
  const providers = options.providers.map((provider) =>
    typeof provider === 'function' ? provider({ host, directory: stateDirectory }) : provider,
  );
  const useCases = compose({
    ...parts,
    providers,
    approver: options.approver ?? { approve: async () => false },
    repositoryPath: options.repo ?? '.',
    actor: options.actor ?? 'library',
    environment: options.environment ?? {},
  });
  return { useCases, parts, providers };
}

/** In order; every one is tried, and all failures are reported together. */
async function closeAll(closers: readonly (() => PromiseLike<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of closers) {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Some parts of Litterbox did not close.');
}
