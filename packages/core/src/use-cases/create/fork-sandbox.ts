import { isLitterboxError } from '../../domain/errors/errors.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import { SandboxId } from '../../domain/sandbox/ids.ts';
import { revisionMessage } from '../../domain/sandbox/revision-message.ts';
import { MAX_SLUG_CHARACTERS, slugify } from '../../domain/sandbox/slug.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { ProgressOptions } from '../../ports/common/call.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { SourceRepository } from '../../ports/source-control/source-control.ts';
import type { Lease, SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { leaseSandbox } from '../common/lease-sandbox.ts';
import type { AssignPorts } from '../keeper/assign-ports.ts';
import { holding } from '../common/ephemeral-lease.ts';
import { audited } from '../common/audited.ts';
import { currentRecord } from '../common/change-record.ts';
import { notedSnapshot, type NotedSnapshot, snapshotsPortOf } from '../common/sandbox-snapshots.ts';
import { assertCanCopy } from './assert-can-copy.ts';
import { forkSlug, withNumber } from './fork-slug.ts';
import type { MakeSandbox } from './make-sandbox.ts';
import type { StartKeeper } from './start-keeper.ts';
import { specOf } from '../decide/spec-of.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { withoutKept } from '../common/kept-commands.ts';
import { isPausedOrStopped } from '../common/is-paused-or-stopped.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import { assertWhole, type OpenSandboxes } from '../session/open-sandboxes.ts';
import type { RecordRevision } from '../record/record-revision.ts';

/** A fork may have these, besides all that it has of its source. */
export interface ForkTraits {
  /** Up to 32, by their names. Its source's are its source's. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** It goes with this program: `hold` of the result keeps it. @defaultValue false */
  readonly isEphemeral?: boolean | undefined;
  /** A snapshot of its source, by label or name: workspace and home begin with what that holds. @defaultValue what the source holds now */
  readonly snapshot?: string | undefined;
}

/** The fork, and what a person should hear about how it was made. */
export interface ForkResult {
  readonly record: SandboxRecord;
  /** Name of the sandbox that it is a copy of. */
  readonly forkedFrom: string;
  /** Keeps an ephemeral one while it is held, as that of a create. */
  readonly hold?: Lease;
  /** Its services, ports and network that are not up. */
  readonly warnings: readonly string[];
}

/** Several forks, in the order of their names, each made or not by itself. */
export interface ForksResult {
  readonly forks: readonly (ForkResult | FailedFork)[];
}

/** Events that a caller of several forks may hear. */
export interface ForkOptions extends ProgressOptions {
  /** A fork has been made, and stays whatever becomes of those after it. Must not throw. */
  readonly onFork?: ((fork: SandboxRecord) => void) | undefined;
}

/** A fork that could not be made, and left nothing. */
export interface FailedFork {
  /** The reason why it could not be made. */
  readonly error: Error;
}

/** A fork that is to be made. */
interface ForkOrder extends Omit<ForkTraits, 'snapshot'> {
  readonly id: SandboxId;
  readonly wanted: string | undefined;
  readonly snapshot: NotedSnapshot | undefined;
}

/** Its parts that are copied. */
interface CopyOrder {
  readonly source: SandboxRecord;
  readonly draft: Omit<SandboxRecord, 'generation'>;
  readonly snapshot: NotedSnapshot | undefined;
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openRepository: OpenRepository;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly openSandboxes: OpenSandboxes;
  readonly recordRevision: RecordRevision;
  readonly assignPorts: AssignPorts;
  readonly makeSandbox: MakeSandbox;
  readonly startKeeper: StartKeeper;
  readonly clock: Clock;
  readonly actor: string;
}

/**
 * Makes a sandbox that has everything of another one: files whatever source control thinks of them, home, a playground of its own, and
 * the whole history. The setup does not run again, and of what the other one runs nothing goes on in the fork. That one stays what it is:
 * running, paused or stopped. Undone as a creation is.
 */
export class ForkSandbox {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** @param wanted the fork's name; without one it is the source's with the first free number from 2 on */
  async fork(
    name: string,
    wanted: string | undefined,
    options?: ProgressOptions,
    traits: ForkTraits = {},
  ): Promise<ForkResult> {
    const found = await this.#needs.findSandbox.find(name, options);
    const repository = await this.#needs.openRepository.open(options);
    const provider = await this.#needs.openSandboxes.providerOf(found, options);
    assertCanCopy(provider, found);
    const snapshot = traits.snapshot === undefined ? undefined : await notedSnapshot(provider, found, traits.snapshot);
    const id = SandboxId.make();
    const entry = {
      operation: 'sandbox-fork',
      actor: this.#needs.actor,
      repositoryId: repository.id,
      sandbox: id,
      input: {
        source: found.id,
        ...(wanted !== undefined && { name: wanted }),
        ...(snapshot && { snapshot: snapshot.note.label }),
      },
    };
    return await holding(this.#needs.state, traits.isEphemeral ? id : undefined, options, async (hold) => {
      return await audited(this.#needs.audit, entry, async () => {
        const record = await this.#make(repository, provider, found, { ...traits, id, wanted, snapshot }, options);
        if (record.policy.worktrees === 'eager' && repository.isPersons) await repository.exportTree(id, options);
        const { record: begun, warnings } = await this.#needs.startKeeper.start(record, options);
        return { record: begun, forkedFrom: found.slug, ...(hold && { hold }), warnings };
      });
    });
  }

  /** A beginning for the names of forks, so that they are numbered from 1 on. */
  async freeRow(name: string, count: number, options?: ProgressOptions): Promise<string> {
    const { slug, repositoryId } = await this.#needs.findSandbox.find(name, options);
    const taken = new Set((await this.#needs.state.list(repositoryId, options)).map((one) => one.slug));
    for (let round = 0; ; round += 1) {
      const suffix = ['', '-race'][round] ?? `-race-${round}`;
      const row = `${slug.slice(0, MAX_SLUG_CHARACTERS - suffix.length - 3)}${suffix}`;
      const isFree = (_: unknown, index: number) => !taken.has(withNumber(slugify(row).slug, index + 1));
      if (Array.from({ length: count }).every(isFree)) return row;
    }
  }

  /**
   * One fork after the other. One that fails leaves those that are made, and those after it are tried all the same.
   *
   * @param wanted what the names begin with, numbered from 1 on; without it they are the source's with the first free numbers from 2 on
   * @throws LitterboxError when there is nothing to fork; what else goes wrong is in the result
   */
  async forkSeveral(
    name: string,
    { wanted, count, ...traits }: ForkTraits & { readonly wanted: string | undefined; readonly count: number },
    options?: ForkOptions,
  ): Promise<ForksResult> {
    const found = await this.#needs.findSandbox.find(name, options);
    assertCanCopy(await this.#needs.openSandboxes.providerOf(found, options), found);
    const forks: (ForkResult | FailedFork)[] = [];
    for (let number = 1; number <= count; number++) {
      const numbered = wanted === undefined ? undefined : withNumber(slugify(wanted).slug, number);
      try {
        const fork = await this.fork(name, numbered, options, traits);
        forks.push(fork);
        options?.onFork?.(fork.record);
      } catch (error) {
        options?.signal?.throwIfAborted();
        if (!isLitterboxError(error)) throw error;
        forks.push({ error });
      }
    }
    return { forks };
  }

  async #make(
    repository: SourceRepository,
    provider: SandboxProvider,
    found: SandboxRecord,
    { id, wanted, labels, isEphemeral, snapshot }: ForkOrder,
    options?: ProgressOptions,
  ): Promise<SandboxRecord> {
    await using _source = await leaseSandbox(this.#needs.state, found, 'fork', options);
    const source = await this.#recordUnrecorded(await currentRecord(this.#needs.state, found, options), options);
    const now = this.#needs.clock.wallMs();
    const draft = {
      id,
      repositoryId: repository.id,
      repositoryRoot: repository.root,
      slug: forkSlug(await this.#needs.state.list(repository.id, options), found, wanted),
      provider: provider.name,
      state: 'creating' as const,
      baseCommit: source.baseCommit,
      baseTree: source.baseTree,
      workdir: source.workdir,
      policy: withoutKept(source.policy),
      forkedFrom: source.slug,
      ...(labels && Object.keys(labels).length > 0 && { labels }),
      ...(isEphemeral && { isEphemeral: true as const }),
      ...(source.emptySubmodules && { emptySubmodules: source.emptySubmodules }),
      ...(source.missingLargeFiles && { missingLargeFiles: source.missingLargeFiles }),
      ...(source.unrecorded && { unrecorded: source.unrecorded }),
      ...(source.setupLog !== undefined && { setupLog: source.setupLog }),
      createdAtMs: now,
      updatedAtMs: now,
    };
    await using _lease = await this.#needs.state.lease(`sandbox:${id}`, 'fork', options);
    const journal = await this.#needs.state.begin({ operation: 'sandbox-create', sandbox: id, step: 'fork' });
    failpoint('fork.after-journal');
    try {
      const record = await this.#copyRuntimeAndHistory(repository, provider, { source, draft, snapshot }, options);
      failpoint('fork.after-ready');
      await this.#needs.state.end(journal.id);
      await this.#needs.state.publish({
        type: 'sandbox-created',
        repositoryId: repository.id,
        sandbox: id,
        data: { slug: record.slug, provider: provider.name, forkedFrom: source.slug },
      });
      return record;
    } catch (error) {
      await this.#needs.makeSandbox.undo(repository, provider, id);
      await this.#needs.state.end(journal.id);
      throw error;
    }
  }

  async #copyRuntimeAndHistory(
    repository: SourceRepository,
    provider: SandboxProvider,
    { source, draft, snapshot }: CopyOrder,
    options?: ProgressOptions,
  ): Promise<SandboxRecord> {
    const { id, slug } = draft;
    const inserted = await this.#needs.assignPorts.assign(
      draft.policy.ports ?? [],
      (ports) => this.#needs.state.insert(ports.length > 0 ? { ...draft, ports } : draft, options),
      options,
    );
    failpoint('fork.after-record');
    options?.onProgress?.({ step: 'runtime', message: `Copying ${source.slug} (${provider.name})` });
    const spec = {
      ...(await specOf(inserted, { commit: source.baseCommit, tree: source.baseTree }, repository, options)),
      copyOf: source.id,
    };
    // History and runtime do not need each other. Both are waited for, so that undoing finds them at rest.
    const [history, made] = await Promise.allSettled([
      repository.fork(source.id, { id, slug }, options),
      provider.create(spec, options),
    ]);
    if (made.status === 'fulfilled') await this.#needs.openSandboxes.adopt(inserted, made.value, options);
    failpoint('fork.after-runtime');
    if (made.status === 'rejected') throw made.reason;
    if (history.status === 'rejected') throw history.reason;
    options?.signal?.throwIfAborted();
    if (snapshot) await this.#putBack(repository, provider, inserted, snapshot, options);
    const opened = await this.#needs.openSandboxes.get({ ...inserted, state: 'ready' });
    const described = await this.#needs.state.update(inserted, { assurance: await opened.runtime.assurance(options) });
    // Everything is looked at once: what the source's programs wrote since it was recorded is the fork's first revision.
    const recorded = await this.#needs.recordRevision.recordUnrecorded(described, opened, options);
    failpoint('fork.after-scan');
    return await this.#needs.state.update(recorded, {
      state: source.state === 'setup-failed' ? 'setup-failed' : 'ready',
    });
  }

  /** The history gets the snapshot's revision; the look at everything finds what the snapshot holds besides. */
  async #putBack(
    repository: SourceRepository,
    provider: SandboxProvider,
    fork: SandboxRecord,
    { name, note }: NotedSnapshot,
    options?: ProgressOptions,
  ): Promise<void> {
    options?.onProgress?.({ step: 'snapshot', message: `Putting workspace and home back to ${note.label}` });
    await snapshotsPortOf(provider, fork).restore(fork.id, name, { signal: options?.signal });
    await this.#needs.openSandboxes.close(fork.id); // its session has ended
    const message = revisionMessage({ tool: 'restore', subject: `snapshot ${note.label}`, sandbox: fork.slug });
    await repository.restore(fork.id, note.commit, message, options);
  }

  /** Unrecorded changes are recorded in the source, where it can be looked at. */
  async #recordUnrecorded(source: SandboxRecord, options?: ProgressOptions): Promise<SandboxRecord> {
    assertWhole(source);
    if (isPausedOrStopped(source)) return source;
    return await this.#needs.recordRevision.recordUnrecorded(
      source,
      await this.#needs.openSandboxes.get(source, options),
      options,
    );
  }
}
