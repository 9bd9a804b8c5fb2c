import { type OpenedSandbox, openedSandbox } from '../../channel/opened-sandbox.ts';
import type { Assurance } from '../../domain/sandbox/assurance.ts';
import { isLitterboxError } from '../../domain/errors/errors.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import { SandboxId } from '../../domain/sandbox/ids.ts';
import type { Slug } from '../../domain/sandbox/slug.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions, ProgressOptions } from '../../ports/common/call.ts';
import type { Heap } from '../../ports/machine/heap.ts';
import type { PooledSandbox, SandboxPool } from '../../ports/sandbox/sandbox-pool.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SandboxRuntime } from '../../ports/sandbox/sandbox-runtime.ts';
import type { FoundBase } from '../../ports/source-control/persons-repository.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { audited } from '../common/audited.ts';
import type { ClearPool } from './clear-pool.ts';
import { specOf } from '../decide/spec-of.ts';
import { decidedWorkdir } from '../decide/decided-workdir.ts';
import type { DecidePolicy } from '../decide/decide-policy.ts';
import type { InstallImage } from './install-image.ts';
import type { OpenEndpoints } from '../network/open-endpoints.ts';
import type { OpenNetwork } from '../network/open-network.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import { policyForBase } from '../decide/policy-for-base.ts';
import type { ChooseHost } from '../decide/choose-host.ts';
import { poolFingerprint } from './pool-fingerprint.ts';
import { RecordRevision } from '../record/record-revision.ts';
import { SetUpSandbox } from './set-up-sandbox.ts';
import { setupKeys } from '../decide/setup-keys.ts';
import { assertPoolable } from './take-pooled.ts';
import { trialState } from '../common/trial-state.ts';

/** The effect of a fill, and how many wait now. */
export interface FillPoolResult {
  readonly made: number;
  /** Prepared for an older base or configuration. */
  readonly removed: number;
  readonly ready: number;
}

/** The name of a prepared sandbox inside, while it is nobody's. */
const POOLED_SLUG = 'pooled' as Slug;
/** How long to wait for another process that fills: one that is about to end may have counted before something was taken. */
const PATIENCE_MS = 2_000;

/** Everything that one fill decides. */
interface PoolPlan {
  readonly repository: SourceRepository;
  readonly provider: SandboxProvider;
  readonly base: FoundBase;
  readonly wanted: number;
  readonly fingerprint: string;
  readonly draft: Omit<SandboxRecord, 'id'>;
}

interface Needs {
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly pool: SandboxPool;
  readonly audit: AuditLog;
  readonly decidePolicy: DecidePolicy;
  readonly chooseHost: ChooseHost;
  readonly openNetwork: OpenNetwork;
  readonly openEndpoints: OpenEndpoints;
  readonly installImage: InstallImage;
  readonly clearPool: ClearPool;
  readonly heap: Heap;
  readonly actor: string;
}

/** Makes sandboxes in advance, as many as the configuration wants, as a create without options would make them. */
export class FillPool {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError as a create does; `BUSY` when another process is filling the pool of this repository. */
  async refill(options?: ProgressOptions): Promise<FillPoolResult> {
    const repository = await this.#needs.openRepository.open(options);
    const wait = { ...options, waitMs: PATIENCE_MS };
    await using _lease = await this.#needs.state.lease(`pool:${repository.id}`, 'fill the pool', wait);
    let made = 0;
    let removed = await this.#needs.clearPool.countOrphans(options);
    for (;;) {
      // Decided anew each time: a commit may have come, and somebody may have taken one.
      const plan = await this.#plan(repository, options);
      removed += await this.#needs.clearPool.stale(
        repository,
        plan.provider,
        plan.wanted > 0 ? plan.fingerprint : undefined,
        options,
      );
      const ready = (await this.#needs.pool.list(repository.id, options)).filter((one) => isReady(one, plan)).length;
      if (ready >= plan.wanted) return { made, removed, ready };
      options?.onProgress?.({ step: 'pool', message: 'Preparing a sandbox', done: ready, total: plan.wanted });
      await this.#makeOne(plan, options);
      made += 1;
    }
  }

  async #plan(repository: SourceRepository, options?: ProgressOptions): Promise<PoolPlan> {
    const decided = await this.#needs.decidePolicy.decide(repository, {}, options);
    const { provider } = await this.#needs.chooseHost.choose(decided, options);
    if (decided.pool > 0) assertPoolable(provider);
    const asked = decided.policyFor(provider);
    const base = await repository.base(decided.source, options);
    const wanting = {
      repositoryId: repository.id,
      repositoryRoot: repository.root,
      slug: POOLED_SLUG,
      provider: provider.name,
      state: 'creating' as const,
      baseCommit: base.commit,
      baseTree: base.tree,
      workdir: decidedWorkdir(decided, provider, asked, repository),
      policy: asked,
      createdAtMs: 0,
      updatedAtMs: 0,
      generation: 1,
    };
    const policy =
      decided.pool > 0
        ? await this.#needs.installImage.install(repository, provider, wanting, base, false, options)
        : asked;
    const draft = { ...wanting, policy: policyForBase(policy, base) };
    const fingerprint = await poolFingerprint(repository, draft, options);
    return { repository, provider, base, draft, wanted: decided.pool, fingerprint };
  }

  async #makeOne(plan: PoolPlan, options?: ProgressOptions): Promise<void> {
    const { repository, provider, fingerprint } = plan;
    const id = SandboxId.make();
    const start = {
      operation: 'pool-add',
      actor: this.#needs.actor,
      repositoryId: repository.id,
      sandbox: id,
      input: { provider: provider.name },
    };
    await audited(this.#needs.audit, start, async () => {
      const row = { id, repositoryId: repository.id, provider: provider.name, fingerprint };
      const pooled = await this.#needs.pool.add(row, options);
      failpoint('pool.after-row');
      try {
        const assurance = await this.#makeRuntime({ ...plan.draft, id }, plan, options);
        failpoint('pool.before-offer');
        await this.#needs.pool.offer(id, assurance);
      } catch (error) {
        await this.#needs.clearPool.removeOne(repository, pooled);
        throw error;
      }
    });
  }

  /** As a create does it, with a history for as long as it takes to know what the setup left for one. */
  async #makeRuntime(record: SandboxRecord, plan: PoolPlan, options?: ProgressOptions): Promise<Assurance> {
    const { repository, provider, base } = plan;
    const spec = { ...(await specOf(record, base, repository, options)), isPooled: true };
    const keys = provider.setups ? await setupKeys(repository, record, base.isPersons, options) : undefined;
    const prepared = keys ? { prepared: keys.wanted } : {};
    let runtime = await provider.create({ ...spec, ...prepared }, options);
    try {
      failpoint('pool.after-runtime');
      const begun = runtime.prepared;
      const isForOthers = begun !== undefined && keys && !keys.isExact(begun) && !keys.isSilent(begun);
      if (isForOthers && !(await this.#fits(record, plan, runtime, options))) {
        await runtime[Symbol.asyncDispose]();
        await provider.remove(record.id);
        runtime = await provider.create(spec, options);
      }
      const hasSetup = record.policy.setup.length > 0 || record.policy.workspaceGit === 'throwaway';
      if (hasSetup && runtime.prepared === undefined) {
        const left = await this.#setUp(record, plan, runtime, options);
        failpoint('pool.after-setup');
        if (keys && provider.setups) {
          options?.onProgress?.({ step: 'setup', message: 'Keeping what the setup left' });
          await runtime[Symbol.asyncDispose]();
          await provider.setups.keep(record.id, keys.keptUnder(left), options);
          runtime = await provider.open(record.id, options);
        }
      }
      const assurance = await runtime.assurance(options);
      // Whatever of this program is in it is frozen nowhere.
      await runtime[Symbol.asyncDispose]();
      runtime = await provider.open(record.id, options);
      await runtime.pause(options).catch((error: unknown) => {
        if (!isLitterboxError(error, 'UNSUPPORTED')) throw error; // then it waits unfrozen
      });
      return assurance;
    } finally {
      await runtime[Symbol.asyncDispose]();
    }
  }

  /** Whether what an earlier setup left stands over no file of this base that was not there then, or was another. */
  async #fits(record: SandboxRecord, plan: PoolPlan, runtime: SandboxRuntime, options?: CallOptions): Promise<boolean> {
    const { touchesBase } = await this.#tryOut(record, plan, runtime, (setUp, opened) =>
      setUp.takeOver(record, opened, options),
    );
    return !touchesBase;
  }

  async #setUp(record: SandboxRecord, plan: PoolPlan, runtime: SandboxRuntime, options?: ProgressOptions) {
    return await this.#tryOut(record, plan, runtime, (setUp, opened) => setUp.run(record, opened, true, options));
  }

  async #tryOut(
    record: SandboxRecord,
    { repository, base }: PoolPlan,
    runtime: SandboxRuntime,
    attempt: (setUp: SetUpSandbox, opened: OpenedSandbox) => Promise<{ readonly isSilent: boolean }>,
  ): Promise<{ readonly isSilent: boolean; readonly touchesBase: boolean }> {
    const state = trialState(record);
    const { openRepository, openNetwork, openEndpoints, heap, audit } = this.#needs;
    const setUp = new SetUpSandbox({
      state,
      recordRevision: new RecordRevision({ state, openRepository, heap, audit }),
      openNetwork,
      openEndpoints,
      openRepository,
      asker: 'agent', // what agents take from the pool is set up without anybody asking
    });
    const opened = openedSandbox(runtime, false);
    await repository.begin({ id: record.id, slug: record.slug, base });
    try {
      const { isSilent } = await attempt(setUp, opened);
      const changes = isSilent ? [] : await repository.changes(record.id);
      return { isSilent, touchesBase: changes.some(({ status }) => status !== 'added') };
    } finally {
      await opened.channel[Symbol.asyncDispose]();
      await repository.remove(record.id);
    }
  }
}

function isReady({ state, provider, fingerprint }: PooledSandbox, plan: PoolPlan): boolean {
  return state === 'ready' && provider === plan.provider.name && fingerprint === plan.fingerprint;
}
