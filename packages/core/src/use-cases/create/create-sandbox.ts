import type { ExecChannel } from '../../channel/exec-channel.ts';
import type { Assurance } from '../../domain/sandbox/assurance.ts';
import { LitterboxError, isLitterboxError } from '../../domain/errors/errors.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import { placementLines } from '../../domain/sandbox/placement-lines.ts';
import type { Placement } from '../../domain/sandbox/placement.ts';
import { parseProviderKey } from '../../domain/sandbox/provider-key.ts';
import { topmostPaths } from '../../domain/sandbox/included-path.ts';
import { revisionMessage } from '../../domain/sandbox/revision-message.ts';
import { SandboxId } from '../../domain/sandbox/ids.ts';
import type { Policy, SupervisorName } from '../../domain/sandbox/policy.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import { shown } from '../../domain/text/shown.ts';
import { madeUpName } from '../../domain/sandbox/made-up-name.ts';
import { slugify } from '../../domain/sandbox/slug.ts';
import type { AuditLog } from '../../ports/audit-log.ts';
import type { Asker, CallOptions, ProgressOptions } from '../../ports/call.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PoolFiller } from '../../ports/pool-filler.ts';
import type { PooledSandbox } from '../../ports/sandbox-pool.ts';
import type { Artefacts, SandboxProvider } from '../../ports/sandbox-provider.ts';
import type { SandboxRuntime } from '../../ports/sandbox-runtime.ts';
import type { Base, BaseSource, HeldBack, LargeFileState, SubmoduleState } from '../../ports/persons-repository.ts';
import type { SourceRepository } from '../../ports/source-control.ts';
import type { SandboxRecord, StateStore } from '../../ports/state-store.ts';
import { SUPERVISORS } from '../../services/supervisors.ts';
import { audited } from '../common/audited.ts';
import { currentRecord } from '../common/change-record.ts';
import type { AssignPorts } from '../keeper/assign-ports.ts';
import type { BringArtefacts } from '../decide/bring-artefacts.ts';
import { isBare } from '../decide/dependency-advice.ts';
import { findOutsideFiles } from '../decide/find-outside-files.ts';
import { decidedWorkdir } from '../decide/decided-workdir.ts';
import type { InstallImage } from '../prepare/install-image.ts';
import { isUp } from '../work/control-services.ts';
import { assertNothingHeldBack, assertSecretsIgnored, liveLower } from '../decide/live-lower.ts';
import { namesHost } from '../common/names-host.ts';
import type { MissingDependencies } from '../decide/missing-dependencies.ts';
import { needsKeeper } from '../keeper/needs-keeper.ts';
import type { OpenNetwork } from '../network/open-network.ts';
import { CONFIG_FILE, type DecidedPolicy, type DecidePolicy, type PolicyOverrides } from '../decide/decide-policy.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import type { ReachKeeper } from '../keeper/reach-keeper.ts';
import type { RecordRevision } from '../record/record-revision.ts';
import type { SetUpSandbox } from '../prepare/set-up-sandbox.ts';
import { type SetupKeys, setupKeys } from '../decide/setup-keys.ts';
import type { ChooseHost } from '../decide/choose-host.ts';
import { policyForBase, withheldNetwork } from '../decide/policy-for-base.ts';
import { runtimeState } from '../common/runtime-state.ts';
import { specOf } from '../decide/spec-of.ts';
import type { TakePooled } from '../prepare/take-pooled.ts';

/** A person's choices for a new sandbox; the rest comes from the configuration. */
export interface CreateSandboxInput {
  /** @defaultValue a made-up one that no other sandbox of the repository has */
  readonly name?: string | undefined;
  /** @defaultValue the configuration's `source`, else `head` */
  readonly from?: BaseSource | undefined;
  /** @defaultValue the configuration's, else the first usable */
  readonly provider?: string | undefined;
  /** Which of the user's machines it is made on: of several the one with the most room. @defaultValue the provider's, else the configuration's, else this one */
  readonly hosts?: readonly string[] | undefined;
  readonly overrides?: PolicyOverrides | undefined;
  /** Run the setup whatever is kept, and keep nothing of it. @defaultValue false */
  readonly freshSetup?: boolean | undefined;
  /** Remove everything again when the setup command fails. @defaultValue false: kept for inspection as `setup-failed` */
  readonly rollback?: boolean | undefined;
}

/** A question to the person while a call goes on. It goes on without when they say no. */
export interface PersonsGift {
  /** The same for the same question: what an answer belongs to. */
  readonly key: string;
  readonly question: string;
}

/** How a sandbox is made. */
export interface CreateOptions extends ProgressOptions {
  /** Asks the person. Called before anything is made; when it rejects, nothing is. Absent where nobody can be asked. */
  readonly ask?: ((gift: PersonsGift) => Promise<boolean>) | undefined;
}

/** The new sandbox, and what a person should hear about how it was made. */
export interface CreateSandboxResult {
  readonly record: SandboxRecord;
  /** The name lost letters on the way to the slug. */
  readonly isRenamed: boolean;
  /**
   * Uncommitted changes that are not in the sandbox: the first of them, and how many. Known when git has looked at every file,
   * which in a large repository takes longer than making a sandbox does.
   */
  readonly leftOut: Promise<LeftOut>;
  /** Uncommitted files that would be in the sandbox if they did not look like secrets. Absent when there are none. */
  readonly heldBack?: HeldBack;
  /** Dependencies of the project that are not inside. Absent when it has none, and when they are. */
  readonly missingDependencies?: MissingDependencies;
  /** Keys of the configuration that nothing knows, with the nearest that is known. */
  readonly warnings: readonly string[];
}

export interface LeftOut {
  readonly paths: readonly string[];
  readonly total: number;
}

const LEFT_OUT_LIMIT = 10;
const MAX_MISSING_TOLD = 5;
const MAX_EMPTY_TOLD = 10;
/** Said to who makes a sandbox on the working tree. */
const LIVE_WARNING =
  'The sandbox reads your working tree directly: every file but .git and those that look like secrets. It stops working once a file changes that git does not ignore.';
/** Enough for agents of one repository; a runaway loop of creates ends here (security.md A98). */
const MAX_SANDBOXES = 512;
/** So long a provider has to say whether it still has the sandbox whose name is taken. */
const ANSWER_MS = 3_000;

/** The result of an earlier setup stands over files of this base that were not there then, or were others: the setup has to run again. */
class UnfitSetup extends Error {}

interface Needs {
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly decidePolicy: DecidePolicy;
  readonly chooseHost: ChooseHost;
  readonly openSandboxes: OpenSandboxes;
  readonly setUpSandbox: SetUpSandbox;
  readonly assignPorts: AssignPorts;
  readonly reachKeeper: ReachKeeper;
  readonly openNetwork: OpenNetwork;
  readonly recordRevision: RecordRevision;
  readonly takePooled: TakePooled;
  readonly poolFiller: PoolFiller;
  readonly installImage: InstallImage;
  readonly bringArtefacts: BringArtefacts;
  readonly clock: Clock;
  readonly actor: string;
  readonly asker: Asker;
}

/** Makes a sandbox: base, history, runtime, setup. Every step is undone when a later one fails, and after a kill by `reconcile`. */
export class CreateSandbox {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
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

  async create(input: CreateSandboxInput, options?: CreateOptions): Promise<CreateSandboxResult> {
    const named = input.name === undefined ? undefined : slugify(input.name);
    const repository = await this.#needs.openRepository.open(options);
    const { slug, lossy } = named ?? slugify(await this.#freeName(repository, options));
    const { name = slug } = input;
    const existing = await this.#needs.state.find(repository.id, slug, options);
    if (existing) throw nameTaken(slug, name, existing, await this.#isLost(existing, options));
    const decided = await this.#needs.decidePolicy.decide(repository, input.overrides ?? {}, options);
    const { provider, placement } = await this.#needs.chooseHost.choose(
      {
        provider: input.provider ?? decided.provider,
        ...(input.provider === undefined && { providerFrom: decided.providerFrom }),
        hosts: input.hosts ?? (namesHost(input.provider) ? undefined : decided.hosts),
        root: input.overrides?.root?.type,
        need: decided.need,
        pool: decided.pool,
      },
      options,
    );
    assertRoom(await this.#needs.state.list(repository.id, options));
    const isLive = decided.lower === 'live';
    const from = isLive ? liveSource(input.from) : (input.from ?? decided.source);
    const installed = await this.#installImage(repository, provider, decided, from, input.freshSetup ?? false, options);
    if (isLive) assertNothingIncluded(installed);
    const { policy: asked, missing } = isLive
      ? { policy: installed }
      : await this.#withDependencies(repository, slug, installed, from, options);
    const source = from.type === 'worktree' && asked.include ? { ...from, named: asked.include } : from;
    // A sandbox of the pool has an id already, which the log names.
    const taken =
      input.freshSetup || isLive
        ? undefined
        : await this.#needs.takePooled.take(repository, provider, decided, asked, source, options);
    const id = taken?.pooled.id ?? SandboxId.make();
    return await audited(
      this.#needs.audit,
      {
        operation: 'sandbox-create',
        actor: this.#needs.actor,
        repositoryId: repository.id,
        sandbox: id,
        input: {
          name,
          source: source.type,
          provider: provider.name,
          ...(placement && { placement }),
        },
      },
      async () => {
        options?.onProgress?.({ step: 'base', message: 'Reading the base' });
        if (isLive) await assertSecretsIgnored(repository, options);
        const base = taken?.base ?? (await repository.base(source, options));
        if (isLive) assertNothingHeldBack(base);
        const { include = [], ...allowed } = policyForBase(asked, base);
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
        const make = (setup?: SetupKeys, pooled?: PooledSandbox) =>
          this.#make(repository, provider, draft, { base, artefacts }, input.rollback ?? false, setup, pooled, options);
        const isShared = base.isPersons && this.#needs.asker === 'person';
        // The result of a setup over artefacts is of no use without them.
        const keys =
          provider.setups && !input.freshSetup && !artefacts && !isLive
            ? await setupKeys(repository, draft, isShared, options)
            : undefined;
        const makeAnew = () =>
          make(keys).catch((error: unknown) => {
            if (!(error instanceof UnfitSetup)) throw error;
            return make();
          });
        const record = taken
          ? await make(keys, taken.pooled).catch((error: unknown) => {
              options?.signal?.throwIfAborted();
              if (!isUnusable(error)) throw error;
              options?.onProgress?.({
                step: 'pool',
                message: 'The prepared sandbox cannot be used: making another one',
              });
              return makeAnew();
            })
          : await makeAnew();
        const refilled = decided.pool > 0 ? await this.#launchPoolFiller(repository) : [];
        const leftOut = this.#listUncommitted(repository, source, options); // only now: it keeps every processor busy for a while
        leftOut.catch(() => {}); // whoever asks is told; nobody has to ask
        if (policy.worktrees === 'eager' && this.#needs.asker === 'person') await repository.exportTree(id, options);
        const { record: kept, warnings } = await this.startKeeper(record, options);
        const all = [
          ...decided.warnings,
          ...passedOverWarnings(placement),
          ...unbrought,
          ...(isLive ? [LIVE_WARNING] : []),
          ...empty.slice(0, MAX_EMPTY_TOLD).map(emptyWarning),
          ...(pointers ? [missingWarning(pointers)] : []),
          ...(withheld === undefined ? [] : [withheld]),
          ...(this.#needs.asker === 'person' ? unreachableWarnings(record.assurance) : []),
          ...warnings,
          ...refilled,
        ];
        const { heldBack } = base;
        return {
          record: kept,
          isRenamed: lossy,
          leftOut,
          ...(heldBack && { heldBack }),
          ...(missing && { missingDependencies: missing }),
          warnings: all,
        };
      },
    );
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

  /** Begins services, ports and network: a sandbox whose services do not come up is one all the same, to find out why. */
  async startKeeper(
    record: SandboxRecord,
    options?: ProgressOptions,
  ): Promise<{ readonly record: SandboxRecord; readonly warnings: readonly string[] }> {
    const { services = [] } = record.policy;
    if (!needsKeeper(record)) return { record, warnings: [] };
    if (services.length > 0) options?.onProgress?.({ step: 'services', message: 'Starting services' });
    try {
      const { services: started, network } = await this.#needs.reachKeeper.status(record, { verb: 'ready' }, options);
      const broken = started.filter((service) => !isUp(service));
      await using _lease = await this.#needs.state.lease(`sandbox:${record.id}`, 'create', options);
      let now = await currentRecord(this.#needs.state, record, options); // a number may have been taken meanwhile
      if (services.length > 0) {
        const message = revisionMessage({ tool: 'service', subject: 'start', sandbox: record.slug });
        ({ record: now } = await this.#needs.recordRevision.record(
          now,
          await this.#needs.openSandboxes.get(now, options),
          message,
          options,
        ));
      }
      return {
        record: now,
        warnings: [
          ...broken.map(({ name, state }) => `The service ${name} is ${state}: litterbox logs ${record.slug} ${name}.`),
          ...(network?.reason === undefined ? [] : [`The network is not open: ${network.reason}`]),
        ],
      };
    } catch (error) {
      options?.signal?.throwIfAborted();
      if (!isLitterboxError(error)) throw error;
      return { record, warnings: [`The services, ports and network are not up: ${error.message}`] };
    }
  }

  /** Behind the caller's back. Gives what a person should hear of it. */
  async #launchPoolFiller(repository: SourceRepository): Promise<readonly string[]> {
    try {
      await this.#needs.poolFiller.launch?.(repository.root);
      return [];
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
      return [error.message];
    }
  }

  async #listUncommitted(repository: SourceRepository, { type }: BaseSource, options?: CallOptions): Promise<LeftOut> {
    if (type !== 'head') return { paths: [], total: 0 };
    return await repository.leftOut(LEFT_OUT_LIMIT, { signal: options?.signal });
  }

  async #make(
    repository: SourceRepository,
    provider: SandboxProvider,
    draft: Omit<SandboxRecord, 'generation'>,
    { base, artefacts }: { readonly base: Base; readonly artefacts: Artefacts | undefined },
    isRollback: boolean,
    setup: SetupKeys | undefined,
    pooled: PooledSandbox | undefined,
    options?: ProgressOptions,
  ): Promise<SandboxRecord> {
    await using _lease = await this.#needs.state.lease(`sandbox:${draft.id}`, 'create', options);
    const journal = await this.#needs.state.begin({ operation: 'sandbox-create', sandbox: draft.id, step: 'record' });
    failpoint('create.after-journal');
    let record: SandboxRecord | undefined;
    try {
      record = await this.#needs.assignPorts.assign(
        draft.policy.ports ?? [],
        (ports) =>
          this.#needs.state.insert(
            {
              ...draft,
              ...(ports.length > 0 && { ports }),
              ...(pooled?.assurance && { assurance: pooled.assurance }), // what was read back when it was made still holds
            },
            options,
          ),
        options,
      );
      if (pooled) {
        failpoint('create.before-release');
        await this.#needs.takePooled.release(pooled);
      }
      await this.#needs.state.step(journal.id, 'runtime');
      failpoint('create.after-record');
      const verb = pooled ? 'Taking a prepared sandbox' : 'Starting the sandbox';
      options?.onProgress?.({ step: pooled ? 'pool' : 'runtime', message: `${verb} (${provider.name})` });
      const live = draft.policy.lower === 'live' && { live: await liveLower(repository, base, options) };
      const spec = {
        ...(await specOf(draft, base, repository, options)),
        ...(artefacts && { artefacts }),
        ...live,
      };
      // History and runtime do not need each other. Both are waited for, so that undoing finds them at rest.
      const [history, made] = await Promise.allSettled([
        repository.begin({ id: draft.id, slug: draft.slug, base }, options),
        pooled && provider.claim
          ? provider.claim(draft.id, spec, options)
          : provider.create({ ...spec, ...(setup && { prepared: setup.wanted }) }, options),
      ]);
      if (made.status === 'fulfilled') this.#needs.openSandboxes.adopt(draft, made.value);
      failpoint('create.after-runtime');
      if (made.status === 'rejected') throw made.reason;
      if (history.status === 'rejected') throw history.reason;
      options?.signal?.throwIfAborted();
      const opened = await this.#needs.openSandboxes.get({ ...record, state: 'ready' });
      assertReachable(record, opened.runtime);
      // Whether it can be opened at all is known now, and not when the first command misses it.
      if (record.policy.network.run !== 'none')
        await (await this.#needs.openNetwork.open(record, opened.runtime, options))[Symbol.asyncDispose]();
      if (!pooled?.assurance)
        record = await this.#needs.state.update(record, { assurance: await opened.runtime.assurance(options) });
      failpoint('create.after-assurance');
      const isSetUp = pooled !== undefined && opened.runtime.prepared === undefined;
      if (isSetUp) {
        if (record.policy.setup.length > 0)
          ({ record } = await this.#needs.setUpSandbox.takeOver(record, opened, options));
      } else
        record = setup
          ? await this.#setUpOnce(repository, provider, record, opened, setup, isRollback, options)
          : (await this.#needs.setUpSandbox.run(record, opened, isRollback, options)).record;
      const { supervisor } = record.policy;
      if (supervisor) {
        // Only then: a setup that was kept closed the sandbox.
        const { channel } = await this.#needs.openSandboxes.get({ ...record, state: 'ready' });
        await assertSupervisor(supervisor, channel, provider.name, options);
      }
      record = await this.#needs.setUpSandbox.markReady(record);
      failpoint('create.after-ready');
    } catch (error) {
      const isKept = isLitterboxError(error, 'SETUP_FAILED') && !isRollback;
      if (!isKept) await this.undo(repository, provider, draft.id, pooled);
      await this.#needs.state.end(journal.id);
      throw error;
    }
    await this.#needs.state.end(journal.id);
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

  /** Takes what an earlier setup left, or runs the setup and keeps what it leaves. Throws {@link UnfitSetup}. */
  async #setUpOnce(
    repository: SourceRepository,
    provider: SandboxProvider,
    record: SandboxRecord,
    opened: OpenedSandbox,
    keys: SetupKeys,
    isRollback: boolean,
    options?: ProgressOptions,
  ): Promise<SandboxRecord> {
    const { prepared } = opened.runtime;
    const touchesBase = async () =>
      (await repository.changes(record.id, options)).some(({ status }) => status !== 'added');
    if (prepared !== undefined) {
      options?.onProgress?.({ step: 'setup', message: 'Set up already: taking what the same setup left before' });
      if (keys.isSilent(prepared)) return await this.#needs.setUpSandbox.skip(record, opened, options);
      const { record: taken } = await this.#needs.setUpSandbox.takeOver(record, opened, options);
      if (!keys.isExact(prepared) && (await touchesBase())) throw new UnfitSetup();
      return taken;
    }
    const { record: current, isSilent } = await this.#needs.setUpSandbox.run(record, opened, isRollback, options);
    const key = keys.keptUnder({ isSilent, touchesBase: !isSilent && (await touchesBase()) });
    options?.onProgress?.({ step: 'setup', message: 'Keeping what the setup left' });
    await this.#needs.openSandboxes.close(record.id);
    failpoint('create.before-keep');
    await provider.setups?.keep(record.id, key, options);
    failpoint('create.after-keep');
    return current;
  }

  /** Runtime, history, record, in this order: what is left after a kill is found by its record. */
  async undo(
    repository: SourceRepository,
    provider: SandboxProvider,
    id: SandboxId,
    pooled?: PooledSandbox,
  ): Promise<void> {
    await this.#needs.openSandboxes.close(id);
    await provider.remove(id);
    await repository.remove(id);
    await this.#needs.state.remove(id);
    if (pooled) await this.#needs.takePooled.release(pooled);
  }
}

/** The base of a sandbox that stands on the working tree: what is in it now. @throws LitterboxError `INVALID_ARGUMENT` for any other base */
function liveSource(from: BaseSource | undefined): BaseSource {
  if (from === undefined || from.type === 'worktree') return { type: 'worktree' };
  throw new LitterboxError(
    'INVALID_ARGUMENT',
    'With lower = "live" a sandbox starts from the working tree and from nothing else.',
    {
      operation: 'sandbox.create',
      hint: 'Leave out --from, or use --lower frozen.',
    },
  );
}

/** @throws LitterboxError `CONFIG_VALUE`: what git ignores is there already, and goes on changing with the person's builds */
function assertNothingIncluded({ include = [] }: Policy): void {
  if (include.length === 0) return;
  throw new LitterboxError(
    'CONFIG_VALUE',
    'include and lower = "live" cannot be combined: the working tree already has the files that git ignores.',
    {
      operation: 'sandbox.create',
      hint: 'Remove include, or use --lower frozen.',
    },
  );
}

/** For named machines on which nothing can be made at the moment. */
function passedOverWarnings(placement: Placement | undefined): readonly string[] {
  if (!placement) return [];
  const lines = placementLines(placement);
  return placement.hosts.flatMap(({ verdict }, index) =>
    verdict === 'silent' || verdict === 'unusable' ? [lines[index] ?? ''] : [],
  );
}

function emptySubmodules(submodules: readonly SubmoduleState[]): NonNullable<SandboxRecord['emptySubmodules']> {
  return submodules.flatMap(({ path, missing }) => (missing === undefined ? [] : [{ path, reason: missing }]));
}

function missingLargeFiles(files: readonly LargeFileState[]): SandboxRecord['missingLargeFiles'] {
  const missing = files.filter(({ isHere }) => !isHere);
  if (missing.length === 0) return undefined;
  return { paths: missing.slice(0, MAX_MISSING_TOLD).map(({ path }) => path), total: missing.length };
}

function missingWarning({ paths, total }: NonNullable<SandboxRecord['missingLargeFiles']>): string {
  const names = `${paths.map((path) => shown(path)).join(', ')}${total > paths.length ? ' …' : ''}`;
  const what = total === 1 ? 'One file of Git LFS is a pointer' : `${total} files of Git LFS are pointers`;
  return `${what} inside, because the content is not on this machine: ${names}. Run git lfs pull, then create another sandbox.`;
}

function emptyWarning({ path, reason }: { readonly path: string; readonly reason: string }): string {
  return `${shown(path)} is empty inside: the files of the submodule are missing, because ${reason}. Run git submodule update --init there, then create another sandbox.`;
}

/** The first few names tell a person which installation it is; `explain` has all of them. */
function unreachableWarnings(assurance: Assurance | undefined): readonly string[] {
  const { unreachable = [] } = assurance ?? {};
  if (unreachable.length === 0) return [];
  const names = unreachable.slice(0, 3).map(({ path }) => shown(path.slice(path.lastIndexOf('/') + 1)));
  const [subject, rest] =
    unreachable.length === 1
      ? ['A program in PATH is a link', 'it']
      : [`${unreachable.length} programs in PATH are links`, 'they'];
  return [
    `${subject} to files that a sandbox cannot read, so ${rest} will not run inside: ${names.join(', ')}${unreachable.length > names.length ? ', …' : ''}. litterbox explain NAME shows the files; a setup can install the program inside.`,
  ];
}

/** Whether another one may be made in place of what was prepared: whatever is wrong with making one at all shows then. */
function isUnusable(error: unknown): boolean {
  if (error instanceof UnfitSetup) return true;
  return isLitterboxError(error) && error.code !== 'SANDBOX_EXISTS';
}

/** @throws LitterboxError `SANDBOX_LIMIT`. */
export function assertRoom(sandboxes: readonly SandboxRecord[]): void {
  if (sandboxes.length < MAX_SANDBOXES) return;
  throw new LitterboxError('SANDBOX_LIMIT', `This repository has ${MAX_SANDBOXES} sandboxes already.`, {
    operation: 'sandbox.create',
    hint: 'Delete some: litterbox list, then litterbox delete NAME.',
  });
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

/** @throws LitterboxError `UNSUPPORTED` when the services are to be looked after by what is not there. After the setup, which may bring it. */
async function assertSupervisor(
  supervisor: SupervisorName,
  channel: ExecChannel,
  provider: string,
  options?: CallOptions,
): Promise<void> {
  const { programs } = SUPERVISORS[supervisor];
  const script = 'for lb_p do command -v "$lb_p" >/dev/null || { echo "$lb_p"; exit 1; }; done';
  const { exit, stdout } = await channel.run({ script, argv: programs, maxOutputBytes: 4096 }, options);
  if (exit.code === 0) return;
  const missing = shown(decodeRaw(stdout.bytes).trim());
  throw new LitterboxError('UNSUPPORTED', `container.supervisor is ${supervisor}, but the sandbox has no ${missing}.`, {
    operation: 'sandbox.create',
    provider,
    hint: 'Use an image that has it, or remove container.supervisor: Litterbox then looks after services itself.',
  });
}

/** @param isLost its provider does not have it any more */
export function nameTaken(slug: string, name: string, { state }: SandboxRecord, isLost = false): LitterboxError {
  const from = name === slug ? '' : ` (from ${shown(name)})`;
  const is = isLost ? 'missing' : state;
  return new LitterboxError('SANDBOX_EXISTS', `There is a sandbox ${slug}${from} already; it is ${is}.`, {
    operation: 'sandbox.create',
    hint: `Choose another name, ${isLost ? `rebuild it: litterbox recover ${slug}` : 'work in it'}, or delete it: litterbox delete ${slug}.`,
  });
}
