import { LitterboxError } from '../../domain/errors/errors.ts';
import { advice, step } from '../../domain/errors/next-step.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { Integration, IntegrationPlan, IntegrationResult } from '../../ports/source-control/persons-repository.ts';
import type { SandboxRecord, StateStore, UnrecordedFiles } from '../../ports/state/state-store.ts';
import type { ConflictFile, SettledFile } from '../../ports/source-control/conflict-file.ts';
import type { FilePart, OfferedFile } from '../../ports/source-control/file-part.ts';
import { leaseSandbox } from '../common/lease-sandbox.ts';
import { type AcceptWork, changedSince, type GivenConsent, type OfferedWork } from '../review/accept-work.ts';
import { assertPersons } from '../common/assert-persons.ts';
import { audited } from '../common/audited.ts';
import { currentRecord } from '../common/change-record.ts';
import type { DeleteSandbox } from './delete-sandbox.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { LookAtSandbox } from '../review/look-at-sandbox.ts';
import type { ReadProof } from '../review/read-proof.ts';
import type { ShownPlan } from '../review/shown-plan.ts';
import { leaseQuietSandbox } from '../common/lease-quiet-sandbox.ts';
import { assertWhole } from '../session/open-sandboxes.ts';
import { otherHandsIn } from '../session/seat-agent.ts';
import { unrecordedText } from '../record/unrecorded-files.ts';
import type { SettleSandbox } from '../record/settle-sandbox.ts';

/** An apply or merge that is asked for. */
export interface IntegrateInput extends GivenConsent {
  readonly sandbox: string;
  readonly integration: Integration;
  /** git-merge arguments of the allow-list. */
  readonly arguments?: readonly string[] | undefined;
  readonly message?: string | undefined;
  /** Of an apply: these files and directories alone. */
  readonly paths?: readonly string[] | undefined;
  /** Besides the paths of an apply: some changes of files, as {@link IntegrateChanges.offer} gave them. */
  readonly parts?: readonly FilePart[] | undefined;
  /** Files in conflict as the person settled them, each of the sides that {@link IntegrateChanges.conflict} gave. */
  readonly settled?: readonly SettledFile[] | undefined;
  /** An apply is committed at once. */
  readonly commit?: boolean | undefined;
  /** Put uncommitted edits aside and back again. */
  readonly autostash?: boolean | undefined;
  /** Called with the plan before anything is asked or changed. */
  readonly onPlan?: ((plan: ShownPlan) => void) | undefined;
}

/** The effect of an apply or merge, and the state of the sandbox after it. */
export interface IntegrateResult extends IntegrationResult {
  /** The plan that was carried out. */
  readonly plan: IntegrationPlan;
  /**
   * True when the sandbox was deleted, as `merge` does once its work is in. One without a revision stays, one in which an agent is at work,
   * and one with files that could not be recorded.
   */
  readonly isDeleted: boolean;
  /** Files that could not be recorded, so that they are not merged, and for which the sandbox was not deleted. */
  readonly unrecorded?: UnrecordedFiles;
  /** Another agent that is at work in the sandbox, for whom it was not deleted. */
  readonly agent?: string;
}

/** An apply that a person may take parts of: its state is `plan.tip`, which their yes names. */
export interface OfferedParts {
  readonly plan: ShownPlan;
  /** Read one by one, while a person decides. */
  files(): AsyncIterable<OfferedFile>;
}

/** A file in conflict, and the plan in which it is. */
export interface OfferedConflict {
  readonly plan: IntegrationPlan;
  readonly file: ConflictFile;
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly acceptWork: AcceptWork;
  readonly lookAtSandbox: LookAtSandbox;
  readonly readProof: ReadProof;
  readonly deleteSandbox: DeleteSandbox;
  readonly settleSandbox: SettleSandbox;
  readonly actor: string;
}

/** Brings a sandbox's work into the user's branch: plan, show, ask, carry out; a merge then deletes the sandbox. */
export class IntegrateChanges {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Unrecorded changes of the workspace are recorded first, as far as it can be looked into. */
  async plan(input: IntegrateInput, options?: ProgressOptions): Promise<ShownPlan> {
    const { record, unsettled } = await this.#needs.lookAtSandbox.look(input.sandbox, options);
    const plan = await this.#plan(record, input, options);
    await this.#needs.acceptWork.assertNamed(offeredWork(record, plan, input), input.tip, options);
    const proof = await this.#needs.readProof.read(record.slug, options);
    return { ...plan, proof, ...(unsettled !== undefined && { unsettled }) };
  }

  /**
   * An apply as a person can take it change by change.
   *
   * @throws LitterboxError `UNSUPPORTED` where whole files alone can be taken
   */
  async offer(input: Omit<IntegrateInput, 'integration'>, options?: ProgressOptions): Promise<OfferedParts> {
    const plan = await this.plan({ ...input, integration: 'apply' }, options);
    const repository = await this.#needs.openRepository.open(options);
    const { offered } = repository;
    if (!offered) throw wholeFilesOnly(input.sandbox);
    return { plan, files: () => offered.call(repository, plan, options) };
  }

  /**
   * One file in conflict with both of its sides, before anything is done.
   *
   * @throws LitterboxError `NOT_FOUND` for a path that does not conflict, `UNSUPPORTED` where conflicts are settled in the work tree alone
   */
  async conflict({ path, ...input }: IntegrateInput & { readonly path: string }, options?: ProgressOptions) {
    const { record } = await this.#needs.lookAtSandbox.look(input.sandbox, options);
    const plan = await this.#plan(record, input, options);
    await this.#needs.acceptWork.assertNamed(offeredWork(record, plan, input), input.tip, options);
    const repository = await this.#needs.openRepository.open(options);
    if (!repository.conflict) throw settledInWorkTree(record.slug);
    return { plan, file: await repository.conflict(plan, path, options) } satisfies OfferedConflict;
  }

  async #plan(record: SandboxRecord, input: IntegrateInput, options?: ProgressOptions): Promise<IntegrationPlan> {
    const { paths = [], parts = [], settled = [] } = input;
    if ((paths.length + parts.length > 0 || input.commit) && input.integration === 'merge')
      throw wholeOnly(input.sandbox);
    assertWhole(record);
    const repository = await this.#needs.openRepository.open(options);
    assertPersons(repository, record.slug, input.integration);
    if (parts.length > 0 && !repository.offered) throw wholeFilesOnly(input.sandbox);
    if (settled.length > 0 && !repository.conflict) throw settledInWorkTree(record.slug);
    return await repository.plan(
      record.id,
      {
        integration: input.integration,
        arguments: input.arguments ?? [],
        ...(input.message !== undefined && { message: input.message }),
        ...(paths.length > 0 && { paths }),
        ...(parts.length > 0 && { parts }),
        ...(settled.length > 0 && { settled }),
        ...(input.commit && { commit: true }),
      },
      options,
    );
  }

  async integrate(input: IntegrateInput, options?: ProgressOptions): Promise<IntegrateResult> {
    const record = await this.#needs.findSandbox.find(input.sandbox, options);
    const held = <Result>(body: () => Promise<Result>) => this.#held(record, input.integration, body, options);
    const plan = await held(async () => {
      const now = await currentRecord(this.#needs.state, record, options);
      assertWhole(now);
      const unrecorded = await this.#needs.settleSandbox.settle(record, options);
      const plan = await this.#plan(now, input, options);
      return { ...plan, ...(unrecorded && { unsettled: unrecordedText(record.slug, unrecorded) }) };
    });
    const work = offeredWork(record, plan, input);
    return await audited(
      this.#needs.audit,
      {
        operation: `sandbox-${input.integration}`,
        actor: this.#needs.actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input: {
          name: record.slug,
          tip: plan.tip,
          head: plan.head,
          into: plan.headRef?.replace(/^refs\/heads\//, '') ?? plan.head.slice(0, 10),
          arguments: [...(input.arguments ?? [])],
          ...(input.paths?.length && { paths: [...input.paths] }),
          ...(input.commit && { commit: true }),
          ...(input.settled?.length && { settled: input.settled.map(({ path }) => path) }),
          ...(input.parts?.length && {
            parts: input.parts.map(({ path, changes }) => ({ path, changes: [...changes] })),
          }),
        },
      },
      async () => {
        failpoint('integrate.after-start');
        const tip = await this.#needs.acceptWork.assertNamed(work, input.tip, options);
        if (input.onPlan) input.onPlan({ ...plan, proof: await this.#needs.readProof.read(record.slug, options) });
        // Outside the leases: nobody waits for a person who reads.
        if (!plan.upToDate) await this.#needs.acceptWork.accept(work, { ...input, tip }, options);
        return await held(() => this.#carryOut(record, plan, input, options));
      },
      ({ outcome, commit }) => ({ outcome, ...(commit && { commit }) }),
    );
  }

  /** Only the shown state is brought in: a sandbox that moved on meanwhile is refused, as a branch that did. */
  async #carryOut(
    record: SandboxRecord,
    plan: IntegrationPlan,
    input: IntegrateInput,
    options?: ProgressOptions,
  ): Promise<IntegrateResult> {
    const repository = await this.#needs.openRepository.open(options);
    assertWhole(await currentRecord(this.#needs.state, record, options));
    const unrecorded = await this.#needs.settleSandbox.settle(record, options);
    const { tip } = await repository.history(record.id, options);
    if (tip.commit !== plan.tip) {
      const since = await repository.changes(record.id, { ...options, revision: tip.commit, against: plan.tip });
      throw changedSince({ record, tip, verb: input.integration }, plan.tip, since);
    }
    const result = await repository.execute(plan, { ...options, autostash: input.autostash ?? false });
    failpoint('integrate.after-execute');
    await this.#needs.state.publish({
      type: `sandbox-${input.integration === 'merge' ? 'merged' : 'applied'}`,
      repositoryId: record.repositoryId,
      sandbox: record.id,
      data: { outcome: result.outcome },
    });
    // One in which nothing was ever done waits for somebody to begin, and one in which another agent is at work for its end. Work that was
    // taken back is nowhere but in the history of its sandbox.
    const isMerged =
      input.integration === 'merge' &&
      tip.number > 0 &&
      tip.tree !== record.baseTree &&
      (result.outcome === 'committed' || result.outcome === 'up-to-date') &&
      (await repository.isMerged(record.id));
    const agent = isMerged ? await otherHandsIn(this.#needs.state, record, this.#needs.actor, options) : undefined;
    const isDeleted = isMerged && agent === undefined && unrecorded === undefined;
    if (isDeleted) {
      failpoint('merge.before-delete');
      await this.#needs.deleteSandbox.removeAll(record, repository);
    }
    return {
      ...result,
      plan,
      isDeleted,
      ...(agent !== undefined && { agent }),
      ...(isMerged && unrecorded && { unrecorded }),
    };
  }

  /** Repository before sandbox, everywhere, so that two calls never wait for each other. */
  async #held<Result>(
    record: SandboxRecord,
    purpose: Integration,
    body: () => Promise<Result>,
    options?: ProgressOptions,
  ): Promise<Result> {
    await using _repositoryLease = await this.#needs.state.lease(`repository:${record.repositoryId}`, purpose, options);
    // A merge deletes the sandbox: a call that is at work in it would lose its ground.
    await using _lease =
      purpose === 'merge'
        ? await leaseQuietSandbox(this.#needs.state, record, purpose, options)
        : await leaseSandbox(this.#needs.state, record, purpose, options);
    return await body();
  }
}

function offeredWork(record: SandboxRecord, plan: IntegrationPlan, input: IntegrateInput): OfferedWork {
  const paths = [...(input.paths ?? []), ...(input.parts ?? []).map(({ path }) => path)];
  const { risky, slug, tip, integration: verb } = plan;
  const question = `${verb === 'merge' ? 'Merge' : 'Apply'} ${slug}`;
  return { record, tip: { commit: tip }, paths, risky, slug, verb, question };
}

const wholeFilesOnly = (sandbox: string) =>
  new LitterboxError('UNSUPPORTED', 'In this repository an apply takes whole files.', {
    operation: 'sandbox.apply',
    hint: advice`For some of its files: ${step('sandbox-apply', { sandbox, paths: ['PATHS'] })}.`,
  });

const settledInWorkTree = (sandbox: string) =>
  new LitterboxError('UNSUPPORTED', 'In this repository conflicts are settled in the work tree.', {
    operation: 'sandbox.apply',
    hint: advice`Take the work in, settle what conflicts, and commit: ${step('sandbox-apply', { sandbox })}.`,
  });

const wholeOnly = (sandbox: string) =>
  new LitterboxError('INVALID_ARGUMENT', 'A merge takes all of the work, and commits it: it has no paths.', {
    operation: 'sandbox.merge',
    hint: advice`For some of its files: ${step('sandbox-apply', { sandbox, paths: ['PATHS'] })}, then git commit.`,
  });
