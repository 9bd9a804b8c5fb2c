import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import { isLitterboxError, LitterboxError } from '../../domain/errors/errors.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import type { SandboxId } from '../../domain/sandbox/ids.ts';
import { parseProviderKey } from '../../domain/sandbox/provider-key.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SandboxRuntime } from '../../ports/sandbox/sandbox-runtime.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { liveLower } from '../decide/live-lower.ts';
import type { SetupKeys } from '../decide/setup-keys.ts';
import { specOf } from '../decide/spec-of.ts';
import type { AssignPorts } from '../keeper/assign-ports.ts';
import type { OpenEndpoints } from '../network/open-endpoints.ts';
import type { OpenNetwork } from '../network/open-network.ts';
import type { SetUpSandbox } from '../prepare/set-up-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import { assertSupervisor } from './assert-supervisor.ts';
import type { SandboxPlan } from './plan-sandbox.ts';

/** The result of an earlier setup stands over files of this base that were not there then, or were others: the setup has to run again. */
class UnfitSetup extends Error {}

/** Something that waits for the disk is written behind it. */
const LOSABLE = { isLosable: true } as const;

interface Needs {
  readonly state: StateStore;
  readonly assignPorts: AssignPorts;
  readonly openSandboxes: OpenSandboxes;
  readonly openNetwork: OpenNetwork;
  readonly openEndpoints: OpenEndpoints;
  readonly setUpSandbox: SetUpSandbox;
}

/** Makes a planned sandbox: record, history and runtime, controls, setup. A later failure undoes every step, and after a kill `reconcile` does. */
export class MakeSandbox {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Makes it anew without the kept setup where that does not fit. */
  async make(plan: SandboxPlan, options?: ProgressOptions): Promise<SandboxRecord> {
    try {
      return await this.#makeOnce(plan, options);
    } catch (error) {
      if (!(error instanceof UnfitSetup)) throw error;
      const { setup: _unfit, ...plain } = plan;
      return await this.#makeOnce(plain, options);
    }
  }

  async #makeOnce(plan: SandboxPlan, options?: ProgressOptions): Promise<SandboxRecord> {
    const { repository, provider, draft, isRollback } = plan;
    await using _lease = await this.#needs.state.lease(`sandbox:${draft.id}`, 'create', options);
    // Two writes wait for the disk: the record, with this entry before it, and the record once it is ready. A power cut that takes the end of
    // the entry leaves what a kill before that leaves.
    const entry = { operation: 'sandbox-create', sandbox: draft.id, step: 'record' };
    const journal = await this.#needs.state.begin(entry, LOSABLE);
    failpoint('create.after-journal');
    let record: SandboxRecord;
    try {
      record = await this.#insertRecord(plan, options);
      failpoint('create.after-record');
      const opened = await this.#launch(plan, record, options);
      record = await this.#readControls(record, opened, options);
      failpoint('create.after-assurance');
      record = await this.#setUp(plan, record, opened, options);
      record = await this.#needs.setUpSandbox.markReady(record);
      failpoint('create.after-ready');
    } catch (error) {
      const isKept = isLitterboxError(error, 'SETUP_FAILED') && !isRollback;
      if (!isKept) await this.undo(repository, provider, draft.id);
      await this.#needs.state.end(journal.id, LOSABLE);
      throw error;
    }
    await this.#needs.state.end(journal.id, LOSABLE);
    failpoint('create.after-end');
    await this.#needs.state.publish({
      type: 'sandbox-created',
      repositoryId: draft.repositoryId,
      sandbox: draft.id,
      data: {
        slug: draft.slug,
        provider: provider.name,
        host: parseProviderKey(provider.name).host,
        ...(draft.placement && { placement: draft.placement }),
      },
    });
    return record;
  }

  async #insertRecord({ draft }: SandboxPlan, options?: ProgressOptions): Promise<SandboxRecord> {
    const insert = async (ports: NonNullable<SandboxRecord['ports']>) =>
      await this.#needs.state.insert({ ...draft, ...(ports.length > 0 && { ports }) }, options);
    return await this.#needs.assignPorts.assign(draft.policy.ports ?? [], insert, options);
  }

  /** History and runtime do not need each other. Both are waited for, so that undoing finds them at rest. */
  async #launch(plan: SandboxPlan, record: SandboxRecord, options?: ProgressOptions): Promise<OpenedSandbox> {
    const { repository, provider, draft, base, artefacts, setup } = plan;
    options?.onProgress?.({ step: 'runtime', message: `Starting the sandbox (${provider.name})` });
    const live = draft.policy.lower === 'live' && { live: await liveLower(repository, base, options) };
    const spec = {
      ...(await specOf(draft, base, repository, options)),
      ...(artefacts && { artefacts }),
      ...live,
    };
    const [history, made] = await Promise.allSettled([
      repository.begin({ id: draft.id, slug: draft.slug, base }, options),
      provider.create({ ...spec, ...(setup && { prepared: setup.wanted }) }, options),
    ]);
    if (made.status === 'fulfilled') await this.#needs.openSandboxes.adopt(draft, made.value, options);
    failpoint('create.after-runtime');
    if (made.status === 'rejected') throw made.reason;
    if (history.status === 'rejected') throw history.reason;
    options?.signal?.throwIfAborted();
    return await this.#needs.openSandboxes.get({ ...record, state: 'ready' });
  }

  /** A network that cannot be opened is known now, and not when the first command misses it. */
  async #readControls(record: SandboxRecord, { runtime }: OpenedSandbox, options?: ProgressOptions) {
    assertReachable(record, runtime);
    if (record.policy.network.run !== 'none')
      await (await this.#needs.openNetwork.open(record, runtime, options))[Symbol.asyncDispose]();
    if (record.policy.endpoints) await this.#needs.openEndpoints.check(record, runtime, options);
    return await this.#needs.state.update(record, { assurance: await runtime.assurance(options) }, LOSABLE);
  }

  async #setUp(
    { repository, provider, setup, isRollback }: SandboxPlan,
    before: SandboxRecord,
    opened: OpenedSandbox,
    options?: ProgressOptions,
  ): Promise<SandboxRecord> {
    let record = before;
    if (setup) record = await this.#setUpOnce({ repository, provider, setup, isRollback }, record, opened, options);
    else ({ record } = await this.#needs.setUpSandbox.run(record, opened, isRollback, options));
    const { supervisor } = record.policy;
    if (supervisor) {
      // Only then: a setup that was kept closed the sandbox.
      const { channel } = await this.#needs.openSandboxes.get({ ...record, state: 'ready' });
      await assertSupervisor(supervisor, channel, provider.name, options);
    }
    return record;
  }

  /** Takes the result of an earlier setup, or runs the setup and keeps its result. Throws {@link UnfitSetup}. */
  async #setUpOnce(
    {
      repository,
      provider,
      setup,
      isRollback,
    }: Pick<SandboxPlan, 'repository' | 'provider' | 'isRollback'> & { readonly setup: SetupKeys },
    record: SandboxRecord,
    opened: OpenedSandbox,
    options?: ProgressOptions,
  ): Promise<SandboxRecord> {
    const { prepared } = opened.runtime;
    const touchesBase = async () =>
      (await repository.changes(record.id, options)).some(({ status }) => status !== 'added');
    if (prepared !== undefined) {
      options?.onProgress?.({ step: 'setup', message: 'Set up already: taking what the same setup left before' });
      if (setup.isSilent(prepared)) return await this.#needs.setUpSandbox.skip(record, opened, options);
      const { record: taken } = await this.#needs.setUpSandbox.takeOver(record, opened, options);
      if (!setup.isExact(prepared) && (await touchesBase())) throw new UnfitSetup();
      return taken;
    }
    const { record: current, isSilent } = await this.#needs.setUpSandbox.run(record, opened, isRollback, options);
    const key = setup.keptUnder({ isSilent, touchesBase: !isSilent && (await touchesBase()) });
    options?.onProgress?.({ step: 'setup', message: 'Keeping what the setup left' });
    await this.#needs.openSandboxes.close(record.id);
    failpoint('create.before-keep');
    await provider.setups?.keep(record.id, key, options);
    failpoint('create.after-keep');
    return current;
  }

  /** Removes runtime, history and record in this order: after a kill the record finds what is left. */
  async undo(repository: SourceRepository, provider: SandboxProvider, id: SandboxId): Promise<void> {
    await this.#needs.openSandboxes.close(id);
    await provider.remove(id);
    await repository.remove(id);
    await this.#needs.state.remove(id);
  }
}

/** @throws LitterboxError `UNSUPPORTED` when the sandbox is to have ports that nobody could connect to. */
function assertReachable({ policy, provider }: SandboxRecord, runtime: SandboxRuntime): void {
  const [port] = policy.ports ?? [];
  if (!port || runtime.connect) return;
  throw new LitterboxError('UNSUPPORTED', `container.ports is not supported (provider ${provider}).`, {
    operation: 'sandbox.create',
    provider,
    hint: 'Remove container.ports, or use another provider.',
  });
}
