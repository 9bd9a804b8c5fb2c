import type { Asker, CallOptions } from '../../ports/common/call.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { BaseSource } from '../../ports/source-control/persons-repository.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { Lease, StateStore } from '../../ports/state/state-store.ts';
import { audited } from '../common/audited.ts';
import { holding } from '../common/ephemeral-lease.ts';
import type { CreateOptions, CreateSandboxInput, CreateSandboxResult, LeftOut } from './create-options.ts';
import { unreachableWarnings } from './create-warnings.ts';
import type { MakeSandbox } from './make-sandbox.ts';
import type { PlanSandbox, SandboxChoice } from './plan-sandbox.ts';
import type { StartKeeper } from './start-keeper.ts';

const LEFT_OUT_LIMIT = 10;

interface Needs {
  readonly audit: AuditLog;
  readonly state: StateStore;
  readonly planSandbox: PlanSandbox;
  readonly makeSandbox: MakeSandbox;
  readonly startKeeper: StartKeeper;
  readonly actor: string;
  readonly asker: Asker;
}

/** Makes a sandbox: decides everything, makes it, and starts what keeps its services and ports. */
export class CreateSandbox {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async create(input: CreateSandboxInput, options?: CreateOptions): Promise<CreateSandboxResult> {
    const choice = await this.#needs.planSandbox.choose(input, options);
    const { repository, id, name, source, provider, placement } = choice;
    const entry = {
      operation: 'sandbox-create',
      actor: this.#needs.actor,
      repositoryId: repository.id,
      sandbox: id,
      input: { name, source: source.type, provider: provider.name, ...(placement && { placement }) },
    };
    return await holding(this.#needs.state, input.isEphemeral ? id : undefined, options, async (hold) => {
      return await audited(this.#needs.audit, entry, async () => await this.#make(choice, hold, options));
    });
  }

  async #make(choice: SandboxChoice, hold: Lease | undefined, options?: CreateOptions): Promise<CreateSandboxResult> {
    const { repository, id, source, missing } = choice;
    const isPerson = this.#needs.asker === 'person';
    const { plan, warnings } = await this.#needs.planSandbox.plan(choice, options);
    const made = await this.#needs.makeSandbox.make(plan, options);
    if (plan.draft.policy.worktrees === 'eager' && isPerson && repository.isPersons)
      await repository.exportTree(id, options);
    const { record, warnings: notUp } = await this.#needs.startKeeper.start(made, options);
    const { heldBack } = plan.base;
    const listUncommitted = once(() => this.#listUncommitted(repository, source, options));
    return {
      record,
      ...(hold && { hold }),
      isRenamed: choice.isRenamed,
      get leftOut() {
        return listUncommitted();
      },
      ...(heldBack && { heldBack }),
      ...(missing && { missingDependencies: missing }),
      warnings: [...warnings, ...(isPerson ? unreachableWarnings(made.assurance) : []), ...notUp],
    };
  }

  async #listUncommitted(repository: SourceRepository, { type }: BaseSource, options?: CallOptions): Promise<LeftOut> {
    if (type !== 'head') return { paths: [], total: 0 };
    return await repository.leftOut(LEFT_OUT_LIMIT, { signal: options?.signal });
  }
}

/** Not before somebody asks: git keeps every processor busy for a while, and nobody has to ask. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work();
    running.catch(() => {}); // whoever waits is told
    return running;
  };
}
