import { SandboxId } from '../../domain/sandbox/ids.ts';
import { topmostPaths } from '../../domain/sandbox/included-path.ts';
import { madeUpName } from '../../domain/sandbox/made-up-name.ts';
import type { Placement } from '../../domain/sandbox/placement.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import { type Slug, slugify } from '../../domain/sandbox/slug.ts';
import type { Asker, CallOptions, ProgressOptions } from '../../ports/common/call.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { BaseSource, FoundBase } from '../../ports/source-control/persons-repository.ts';
import type { Artefacts, SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { namesHost } from '../common/names-host.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import { runtimeState } from '../common/runtime-state.ts';
import type { BringArtefacts } from '../decide/bring-artefacts.ts';
import type { ChooseHost } from '../decide/choose-host.ts';
import { CONFIG_FILE, type DecidedPolicy, type DecidePolicy } from '../decide/decide-policy.ts';
import { decidedWorkdir } from '../decide/decided-workdir.ts';
import { isBare } from '../decide/dependency-advice.ts';
import { findOutsideFiles } from '../decide/find-outside-files.ts';
import {
  assertNothingHeldBack,
  assertNothingIncluded,
  assertSecretsIgnored,
  liveSource,
} from '../decide/live-lower.ts';
import type { MissingDependencies } from '../decide/missing-dependencies.ts';
import { policyForBase, withheldNetwork } from '../decide/policy-for-base.ts';
import { type SetupKeys, setupKeys } from '../decide/setup-keys.ts';
import type { InstallImage } from '../prepare/install-image.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import { assertBeginning } from './assert-beginning.ts';
import { assertRoom } from './assert-room.ts';
import type { CreateOptions, CreateSandboxInput } from './create-options.ts';
import {
  emptySubmodules,
  emptyWarnings,
  LIVE_WARNING,
  missingLargeFiles,
  missingWarning,
  passedOverWarnings,
} from './create-warnings.ts';
import { nameTaken } from './name-taken.ts';

/** So long a provider has to say whether it still has the sandbox whose name is taken. */
const ANSWER_MS = 3_000;

/** Name, place and policy of a new sandbox. Nothing was made. */
export interface SandboxChoice {
  readonly input: CreateSandboxInput;
  readonly repository: SourceRepository;
  readonly id: SandboxId;
  /** As it was asked for, or made up. */
  readonly name: string;
  readonly slug: Slug;
  /** The name lost letters on the way to the slug. */
  readonly isRenamed: boolean;
  readonly decided: DecidedPolicy;
  readonly provider: SandboxProvider;
  readonly placement?: Placement | undefined;
  readonly policy: Policy;
  readonly missing?: MissingDependencies | undefined;
  readonly isLive: boolean;
  readonly source: BaseSource & { readonly named?: readonly string[] };
}

/** Everything that a new sandbox is made from. */
export interface SandboxPlan {
  readonly repository: SourceRepository;
  readonly provider: SandboxProvider;
  readonly draft: Omit<SandboxRecord, 'generation'>;
  readonly base: FoundBase;
  readonly artefacts?: Artefacts | undefined;
  /** Keys of the setups that it may begin with. */
  readonly setup?: SetupKeys | undefined;
  readonly isRollback: boolean;
}

interface Needs {
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly decidePolicy: DecidePolicy;
  readonly chooseHost: ChooseHost;
  readonly openSandboxes: OpenSandboxes;
  readonly installImage: InstallImage;
  readonly bringArtefacts: BringArtefacts;
  readonly clock: Clock;
  readonly asker: Asker;
}

/** Decides what a new sandbox is, before any of it is made. */
export class PlanSandbox {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @throws LitterboxError `SANDBOX_EXISTS`, `SANDBOX_LIMIT`, `CONFIG_*`, `UNSUPPORTED`, `UNAVAILABLE` */
  async choose(input: CreateSandboxInput, options?: CreateOptions): Promise<SandboxChoice> {
    const named = input.name === undefined ? undefined : slugify(input.name);
    const repository = await this.#needs.openRepository.open(options);
    const { slug, lossy } = named ?? slugify(await this.#freeName(repository, options));
    const { name = slug } = input;
    const existing = await this.#needs.state.find(repository.id, slug, options);
    if (existing) throw nameTaken(slug, name, existing, await this.#isLost(existing, options));
    const decided = await this.#needs.decidePolicy.decide(repository, input.overrides ?? {}, options);
    const { provider, placement } = await this.#chooseHost(input, decided, options);
    assertRoom(await this.#needs.state.list(repository.id, options));
    const isLive = decided.lower === 'live';
    assertBeginning(repository, input.from, isLive);
    const from = isLive ? liveSource(input.from) : (input.from ?? decided.source);
    const installed = await this.#installImage(repository, provider, decided, from, input.freshSetup ?? false, options);
    if (isLive) assertNothingIncluded(installed);
    const { policy, missing } = isLive
      ? { policy: installed }
      : await this.#withDependencies(repository, slug, installed, from, options);
    const source = from.type === 'worktree' && policy.include ? { ...from, named: policy.include } : from;
    const id = SandboxId.make();
    const chosen = { input, repository, id, name, slug, isRenamed: lossy, decided, provider, policy, isLive, source };
    return { ...chosen, placement, missing };
  }

  /** Reads the base, and decides by it. The warnings are for a person. */
  async plan(
    choice: SandboxChoice,
    options?: ProgressOptions,
  ): Promise<{ readonly plan: SandboxPlan; readonly warnings: readonly string[] }> {
    const { input, repository, id, slug, decided, provider, placement, isLive, source } = choice;
    options?.onProgress?.({ step: 'base', message: 'Reading the base' });
    if (isLive) await assertSecretsIgnored(repository, options);
    const base = await repository.base(source, options);
    if (isLive) assertNothingHeldBack(base);
    const { include = [], ...allowed } = policyForBase(choice.policy, base);
    const wanted = {
      paths: include,
      isWorkTree: source.type === 'worktree',
      isStrict: input.overrides?.include !== undefined,
    };
    const { artefacts, warnings: unbrought } = await this.#needs.bringArtefacts.bring(
      repository,
      base,
      wanted,
      options,
    );
    const policy = artefacts ? { ...allowed, include: artefacts.paths } : allowed;
    const withheld = policy.setup.length > 0 ? withheldNetwork(policy) : undefined;
    const now = this.#needs.clock.wallMs();
    // The working tree itself has the files of submodules and Git LFS that are there.
    const outside = isLive ? { submodules: [], largeFiles: [] } : await findOutsideFiles(repository, base, options);
    const empty = emptySubmodules(outside.submodules);
    const pointers = missingLargeFiles(outside.largeFiles);
    const draft = {
      ...(empty.length > 0 && { emptySubmodules: empty }),
      ...(pointers && { missingLargeFiles: pointers }),
      ...(placement && { placement }),
      ...(input.labels && Object.keys(input.labels).length > 0 && { labels: input.labels }),
      ...(input.isEphemeral && { isEphemeral: true as const }),
      id,
      repositoryId: repository.id,
      repositoryRoot: repository.root,
      slug,
      provider: provider.name,
      state: 'creating' as const,
      baseCommit: base.commit,
      baseTree: base.tree,
      workdir: decidedWorkdir(decided, provider, policy, repository),
      policy,
      createdAtMs: now,
      updatedAtMs: now,
    };
    const isShared = base.isPersons && this.#needs.asker === 'person';
    // The result of a setup over artefacts is of no use without them.
    const setup =
      provider.setups && !input.freshSetup && !artefacts && !isLive
        ? await setupKeys(repository, draft, isShared, options)
        : undefined;
    const isRollback = input.isEphemeral ?? input.rollback ?? false;
    return {
      plan: { repository, provider, draft, base, artefacts, setup, isRollback },
      warnings: [
        ...decided.warnings,
        ...passedOverWarnings(placement),
        ...unbrought,
        ...(isLive ? [LIVE_WARNING] : []),
        ...emptyWarnings(empty),
        ...(pointers ? [missingWarning(pointers)] : []),
        ...(withheld === undefined ? [] : [withheld]),
      ],
    };
  }

  async #chooseHost(input: CreateSandboxInput, decided: DecidedPolicy, options?: ProgressOptions) {
    return await this.#needs.chooseHost.choose(
      {
        provider: input.provider ?? decided.provider,
        ...(input.provider === undefined && { providerFrom: decided.providerFrom }),
        hosts: input.hosts ?? (namesHost(input.provider) ? undefined : decided.hosts),
        root: input.overrides?.root?.type,
        need: decided.need,
      },
      options,
    );
  }

  /** A sandbox whose provider does not answer soon is left as it is. */
  async #isLost(record: SandboxRecord, options?: ProgressOptions): Promise<boolean> {
    if (record.state === 'creating' || record.state === 'deleting') return false;
    const soon = AbortSignal.timeout(ANSWER_MS);
    const call = { signal: options?.signal ? AbortSignal.any([options.signal, soon]) : soon };
    try {
      return (
        (await runtimeState(await this.#needs.openSandboxes.providerOf(record, call), record.id, call)) === undefined
      );
    } catch {
      options?.signal?.throwIfAborted();
      return false;
    }
  }

  /** Asks the person, where that can be done, for their own copy of what the sandbox would miss. */
  async #withDependencies(
    repository: SourceRepository,
    slug: string,
    policy: Policy,
    source: BaseSource,
    options?: CreateOptions,
  ): Promise<{ readonly policy: Policy; readonly missing?: MissingDependencies }> {
    const missing = await this.#needs.bringArtefacts.findMissing(repository, policy, source, options);
    if (!missing) return { policy };
    const { directories } = missing;
    const isGiven =
      directories.length > 0 &&
      !isBare(policy) &&
      (await options?.ask?.({
        key: `include ${directories.join(' ')}`,
        question: `An agent wants to make the sandbox ${slug}. Git ignores ${directories.join(' and ')}, so it would be without. Copy yours into it? (include in ${CONFIG_FILE} says so for all.)`,
      }));
    if (!isGiven) return { policy, missing };
    const given = { ...policy, include: topmostPaths([...(policy.include ?? []), ...directories]) };
    const rest = await this.#needs.bringArtefacts.findMissing(repository, given, source, options);
    return { policy: given, ...(rest && { missing: rest }) };
  }

  /** Where all that come to mind are taken, the name clash says so. */
  async #freeName(repository: SourceRepository, options?: CallOptions): Promise<string> {
    const taken = new Set<string>((await this.#needs.state.list(repository.id, options)).map((one) => one.slug));
    const draw = () => madeUpName((count) => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) % count);
    let name = draw();
    for (let tries = 0; taken.has(name) && tries < 100; tries += 1) name = draw();
    return name;
  }

  /**
   * The policy, with what it installs in an image by then. What is run as root is the person's own, as the configuration is: of the
   * commit that they are at or of their working tree, and not of a branch that an agent may have written.
   */
  async #installImage(
    repository: SourceRepository,
    provider: SandboxProvider,
    decided: DecidedPolicy,
    source: BaseSource,
    isFresh: boolean,
    options?: ProgressOptions,
  ): Promise<Policy> {
    const policy = decided.policyFor(provider);
    if (!policy.install) return policy;
    const base = await repository.base(source.type === 'ref' ? { type: 'head' } : source, options);
    const sandbox = {
      repositoryId: repository.id,
      provider: provider.name,
      workdir: decidedWorkdir(decided, provider, policy, repository),
      policy,
      baseCommit: base.commit,
      baseTree: base.tree,
    };
    return await this.#needs.installImage.install(repository, provider, sandbox, base, isFresh, options);
  }
}
