import {
  type Assurance,
  applyChanges,
  type AttachedProcess,
  type AuditEntry,
  type CallOptions,
  checkMachine,
  type CreateSandboxResult,
  createSandbox,
  cutMilestone,
  deleteSandbox,
  type ExportedTree,
  exportWorktree,
  type FileChange,
  findSandbox,
  type IntegrateResult,
  type ShownPlan,
  type LitterboxEvent,
  listSandboxes,
  type LogEntry,
  isSnapshotId,
  OpenRepository,
  type Milestone,
  mergeChanges,
  openShell,
  planIntegration,
  type ProgressOptions,
  type ProviderReport,
  type ReadConfig,
  readAudit,
  readDiff,
  readLog,
  reconcileState,
  recoverSandbox,
  type RestoreResult,
  restoreRevision,
  type RunState,
  type RunStateResult,
  type SandboxRecord,
  type SandboxSummary,
  setRunState,
  trustConfig,
  verifyAudit,
} from '@litterbox/core';
import { closeAll } from './close-all.ts';
import type { Performer } from './create-performer.ts';
import type { LitterboxOptions } from './litterbox-options.ts';
import type { AttachByNameInput, CreateInput, DiffInput, PlanByNameInput, WorktreeInput } from './operation-options.ts';
import { createFromSnapshot } from './create-from-snapshot.ts';
import { openForPeople } from './open-for-people.ts';
import type { SandboxEvent } from './watch/sandbox-event.ts';
import { watchEvents } from './watch/watch-events.ts';
import { type ApplyOptions, type MergeOptions, Sandbox } from './sandbox.ts';

type DiffScope = CallOptions & DiffInput;

/** Names a sandbox of this repository by its name; a name is slugified as at create. */
export interface Litterbox extends Performer {
  /**
   * Makes a sandbox. What it left out of the base and what the configuration says wrongly is in `created`. `from` may be the id of a
   * snapshot: then it is a fork of the sandbox that the snapshot was taken of, with what that held.
   */
  create(input?: CreateInput, options?: ProgressOptions): Promise<Sandbox & { readonly created: CreateSandboxResult }>;
  /** A sandbox that exists, made by whichever program. @throws LitterboxError `SANDBOX_NOT_FOUND` */
  open(name: string, options?: CallOptions): Promise<Sandbox>;
  /** @param options `labels`: only those that have all of these */
  list(
    scope?: 'repository' | 'all',
    options?: CallOptions & { readonly labels?: Readonly<Record<string, string>> },
  ): Promise<readonly SandboxSummary[]>;
  /** Starts a process with a terminal, or to be handled piece by piece, as `Sandbox.attach`. */
  attach(input: AttachByNameInput, options?: CallOptions): Promise<AttachedProcess>;
  /** Revisions, newest first. */
  log(name: string, options?: CallOptions & { readonly limit?: number }): AsyncIterable<LogEntry>;
  /**
   * The patch from base to tip, or of one revision; hostile bytes. What the workspace holds is recorded first. A whole one that is read to
   * its end counts as shown: an apply or merge then stands on it, and is `CHANGED_SINCE_SHOWN` where the sandbox went on.
   */
  diff(name: string, scope?: DiffScope): AsyncIterable<Uint8Array>;
  /** The files that differ from the base, or in one revision. The workspace's state is recorded first. */
  changes(name: string, scope?: DiffScope): Promise<readonly FileChange[]>;
  /** Makes one commit of all revisions since the last milestone. Nothing where there are none. */
  milestone(name: string, message: string, options?: CallOptions): Promise<Milestone | undefined>;
  /** What an apply or merge would do, without doing it. */
  plan(input: PlanByNameInput, options?: ProgressOptions): Promise<ShownPlan>;
  /**
   * Brings the changes into index and work tree, all or those at some `paths`; the sandbox stays.
   *
   * @throws LitterboxError `CHANGED_SINCE_SHOWN` when a person was shown another state, `RISKY_CHANGES`; `tip` is the yes to a state, and with
   *   `acceptRisky` to its files that run code
   */
  apply(name: string, input?: ApplyOptions, options?: ProgressOptions): Promise<IntegrateResult>;
  /** Merges as `git merge` does, then deletes the sandbox. */
  merge(name: string, input?: MergeOptions, options?: ProgressOptions): Promise<IntegrateResult>;
  /** Deletes a sandbox with all it holds. @throws LitterboxError `UNMERGED_WORK` without `force`, where there is work that nobody took */
  delete(name: string, input?: { readonly force?: boolean }, options?: CallOptions): Promise<SandboxRecord>;
  /** Pauses, stops or resumes it. */
  setRunState(name: string, state: RunState, options?: CallOptions): Promise<RunStateResult>;
  /** The same for all sandboxes of this repository, or of all. */
  setAllRunStates(
    scope: 'repository' | 'all',
    state: RunState,
    options?: CallOptions,
  ): Promise<readonly RunStateResult[]>;
  /** Puts the workspace to a revision, by number or commit. */
  restore(name: string, revision: string, options?: ProgressOptions): Promise<RestoreResult>;
  /** Rebuilds a runtime that was lost, from the last revision. One that works is left as it is (`CONFLICT`), unless `force` is set. */
  recover(name: string, input?: { readonly force?: boolean }, options?: ProgressOptions): Promise<SandboxRecord>;
  /**
   * Writes the files of the review branch for a person to look into. What can run code there is asked of the approver; without a yes
   * nothing is written (`RISKY_CHANGES`).
   */
  worktree(name: string, input?: WorktreeInput, options?: CallOptions): Promise<ExportedTree>;
  /** What isolation is in force for a sandbox, as read back when its session started. */
  assurance(
    name: string,
    options?: CallOptions,
  ): Promise<{ readonly record: SandboxRecord; readonly assurance: Assurance | undefined }>;
  /** What every provider finds on this machine, in order of preference. */
  probe(options?: CallOptions): Promise<readonly ProviderReport[]>;
  /** The configuration of the repository, and whether a person agreed to it. */
  trustStatus(options?: CallOptions): Promise<ReadConfig>;
  /** Agrees to the configuration that {@link trustStatus} showed. */
  trust(contentHash: string, options?: CallOptions): Promise<ReadConfig>;
  /** Calls, newest first, of one sandbox or of all. */
  audit(
    filter?: { readonly name?: string; readonly limit?: number },
    options?: CallOptions,
  ): Promise<readonly AuditEntry[]>;
  /** Checks that no entry of the audit log was changed or removed. @throws LitterboxError */
  verifyAudit(options?: CallOptions): Promise<{ readonly entries: number }>;
  /** Events after a number, oldest first. */
  events(after: number, options?: CallOptions & { readonly limit?: number }): Promise<readonly LitterboxEvent[]>;
  /**
   * Events as they come, of whichever program, until the loop is left or the signal aborts: then it rejects with the reason.
   *
   * @param options `after`: the `sequence` of the last event that is known, `0` for all that are kept; from now on when left out. `scope`:
   *   `all` repositories rather than this one
   */
  watch(
    options?: CallOptions & { readonly after?: number; readonly scope?: 'repository' | 'all' },
  ): AsyncIterable<SandboxEvent>;
  /** Finishes or undoes what killed processes left; one sentence for each thing done. */
  reconcile(options?: CallOptions): Promise<readonly string[]>;
}

/**
 * Synchronous and free of I/O: parts are loaded and opened by the first call that needs them.
 *
 * @throws LitterboxError `ARG_MISSING`, `ARG_TYPE`, `ARG_UNKNOWN` for options that are none
 */
export function createLitterbox(options: LitterboxOptions): Litterbox {
  const performer = openForPeople(options);
  const { perform, wired } = performer;
  const callOf = <Scope extends CallOptions>({ signal, ...input }: Scope) => ({ input, call: { signal } });
  const ephemeral = new Set<Sandbox>();
  return {
    perform,
    async create(input = {}, call) {
      const isOfSnapshot = input.from !== undefined && isSnapshotId(input.from);
      const created = isOfSnapshot
        ? await createFromSnapshot(performer, input, call)
        : await perform(createSandbox, input, call);
      const sandbox = new Sandbox((await wired()).useCases, created.record, created.hold, ephemeral);
      return Object.assign(sandbox, { created });
    },
    async open(sandbox, call) {
      const record = await perform(findSandbox, { sandbox }, call);
      return new Sandbox((await wired()).useCases, record, undefined, ephemeral);
    },
    list: async (scope = 'repository', { labels, ...call } = {}) =>
      await perform(listSandboxes, { all: scope === 'all', labels }, call),
    attach: async (input, call) => await perform(openShell, input, call),
    async *log(sandbox, { limit, ...call } = {}) {
      for (const entry of await perform(readLog, { sandbox, limit, revisionsOnly: true }, call))
        if (entry.type === 'revision') yield entry;
    },
    async *diff(sandbox, scope = {}) {
      const { input, call } = callOf(scope);
      yield* (await perform(readDiff, { ...input, sandbox }, call)).patch();
    },
    async changes(sandbox, scope = {}) {
      const { input, call } = callOf(scope);
      return await (await perform(readDiff, { ...input, sandbox }, call)).files();
    },
    milestone: async (sandbox, message, call) => await perform(cutMilestone, { sandbox, message }, call),
    plan: async (input, call) => await perform(planIntegration, input, call),
    apply: async (sandbox, { onPlan, ...input } = {}, call) =>
      await perform(applyChanges, { ...input, sandbox }, { ...call, onPlan }),
    merge: async (sandbox, { onPlan, ...input } = {}, call) =>
      await perform(mergeChanges, { ...input, sandbox }, { ...call, onPlan }),
    delete: async (sandbox, input = {}, call) => await perform(deleteSandbox, { ...input, sandbox }, call),
    async setRunState(sandbox, state, call) {
      const [result] = await perform(setRunState, { sandbox, state }, call);
      return result as RunStateResult; // one sandbox, one result
    },
    setAllRunStates: async (scope, state, call) =>
      await perform(setRunState, { ...(scope === 'all' ? { allRepos: true } : { allEnvs: true }), state }, call),
    restore: async (sandbox, revision, call) => await perform(restoreRevision, { sandbox, revision }, call),
    recover: async (sandbox, input = {}, call) => await perform(recoverSandbox, { ...input, sandbox }, call),
    worktree: async (sandbox, input = {}, call) => await perform(exportWorktree, { ...input, sandbox }, call),
    async assurance(name, call) {
      const record = await perform(findSandbox, { sandbox: name }, call);
      return { record, assurance: record.assurance };
    },
    probe: async (call) => await perform(checkMachine, {}, call),
    trustStatus: async (call) => await perform(trustConfig, {}, call),
    trust: async (contentHash, call) => await perform(trustConfig, { contentHash }, call),
    audit: async ({ name, limit } = {}, call) => await perform(readAudit, { sandbox: name, limit }, call),
    verifyAudit: async (call) => await perform(verifyAudit, {}, call),
    events: async (after, call) => await (await wired()).parts.state.events(after, call),
    async *watch({ after, scope = 'repository', ...call } = {}) {
      const { parts, useCases } = await wired();
      const repository = scope === 'all' ? undefined : await useCases.get(OpenRepository).open(call);
      yield* watchEvents({ ...parts, repositoryId: repository?.id }, after, call);
    },
    reconcile: async (call) => await perform(reconcileState, {}, call),
    async [Symbol.asyncDispose]() {
      await closeAll([
        ...[...ephemeral].map((sandbox) => async () => await sandbox[Symbol.asyncDispose]()),
        async () => await performer[Symbol.asyncDispose](),
      ]);
    },
  };
}
