import type { ChangedPath } from '../../domain/paths/changed-path.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import { revisionMessage } from '../../domain/sandbox/revision-message.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Heap } from '../../ports/machine/heap.ts';
import type { ChangeMark } from '../../ports/sandbox/sandbox-runtime.ts';
import type { RevisionMessage } from '../../domain/sandbox/revision-message.ts';
import type { RevisionResult, RecordWarning } from '../../ports/source-control/sandbox-histories.ts';
import type { WorkTreeDrift } from '../../ports/source-control/persons-repository.ts';
import type { SandboxRecord, StateStore, UnrecordedFiles } from '../../ports/state/state-store.ts';
import { changeRecord } from '../common/change-record.ts';
import { interruptedCall } from './interrupted-call.ts';
import { driftOf } from '../session/live-tree.ts';
import type { OpenRepository } from '../common/open-repository.ts';
import { type OpenedSandbox, scanOf } from '../../channel/opened-sandbox.ts';
import { bothResults } from './both-results.ts';
import { unrecordedFiles } from './unrecorded-files.ts';
import { withoutPersonsDeletions } from './without-persons-deletions.ts';
import { isStray } from '../../inside/file-contents.ts';
import { readContents } from '../../inside/read-contents.ts';
import { withoutArtefacts } from './without-artefacts.ts';

export interface Recorded {
  /** The record as it is now. */
  readonly record: SandboxRecord;
  readonly result: RevisionResult;
  /** The sandbox stands on the working tree, and that had become another one when this was recorded. */
  readonly drift?: WorkTreeDrift;
}

/** Up to here contents are taken at once; more is streamed. */
const SMALL_FILES = 500;
const SMALL_BYTES = 2 ** 20;
/** A program is killed in one write, not in more. */
const MAX_STRAYS = 16;

const NOTHING: RevisionResult = { changedFiles: 0, warnings: [], moreWarnings: 0 };

interface Needs {
  readonly state: Pick<StateStore, 'get' | 'update' | 'publish'>;
  readonly openRepository: OpenRepository;
  readonly heap: Heap;
  readonly audit: Pick<AuditLog, 'entries'>;
}

/** Records what changed in a workspace since the last time as one revision, or nothing. The caller holds the sandbox's lease. */
export class RecordRevision {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async record(
    record: SandboxRecord,
    opened: OpenedSandbox,
    message: RevisionMessage,
    options?: CallOptions,
  ): Promise<Recorded> {
    return await this.#needs.heap.lean(() => this.#execute(record, record.mark, opened, message, options));
  }

  async #execute(
    record: SandboxRecord,
    mark: ChangeMark | undefined,
    opened: OpenedSandbox,
    message: RevisionMessage,
    options?: CallOptions,
  ): Promise<Recorded> {
    const first = await this.#record(record, mark, opened, message, options);
    if (!first.result.ignoreRulesChanged) return first;
    // Files that were ignored until now did not change, so only a look at everything finds them; they become a revision of their own.
    const second = await this.#record(first.record, undefined, opened, message, options);
    const drift = second.drift ?? first.drift;
    const result = { ...bothResults(first.result, second.result), ignoreRulesChanged: true };
    return { ...(drift && { drift }), record: second.record, result };
  }

  /**
   * Records what no call has recorded: what a program that was killed left, or what a background process wrote since. A revision
   * of its own, called by the call that was killed where one was. A sandbox that does not run has nothing that could have changed since it stopped.
   */
  async recordUnrecorded(record: SandboxRecord, opened: OpenedSandbox, options?: CallOptions): Promise<SandboxRecord> {
    return (await this.record(record, opened, await this.#recovered(record), options)).record;
  }

  /** The same, with a look at everything where a file could not be recorded before: what it is now is in the record that this returns. */
  async settle(record: SandboxRecord, opened: OpenedSandbox, options?: CallOptions): Promise<SandboxRecord> {
    if (!record.unrecorded) return await this.recordUnrecorded(record, opened, options);
    const message = await this.#recovered(record);
    const look = () => this.#execute(record, undefined, opened, message, options);
    return (await this.#needs.heap.lean(look)).record;
  }

  async #recovered(record: SandboxRecord): Promise<RevisionMessage> {
    return revisionMessage({
      tool: 'recovered',
      subject: 'changes found before this call',
      ...(await interruptedCall(this.#needs.audit, record)),
      sandbox: record.slug,
    });
  }

  async #record(
    record: SandboxRecord,
    mark: ChangeMark | undefined,
    opened: OpenedSandbox,
    message: RevisionMessage,
    options?: CallOptions,
  ): Promise<Recorded> {
    const { runtime } = opened;
    const scan = await scanOf(opened, mark, options);
    const drifted: Pick<Recorded, 'drift'> & { drift?: WorkTreeDrift } = {};
    const look = async () => {
      const drift = await driftOf({ record, runtime }, await this.#needs.openRepository.open(options), options);
      if (drift) drifted.drift = drift;
      return drift;
    };
    const own = withoutArtefacts(scan.changes, record.policy.include ?? []);
    const changes = await nonEmpty(runtime.live === undefined ? own : withoutPersonsDeletions(own, look));
    const known = mark === undefined ? undefined : record.unrecorded;
    const noted = (files: UnrecordedFiles | undefined) =>
      files === record.unrecorded ? {} : { unrecorded: files ?? null };
    if (!changes) {
      const found = noted(known);
      const now = 'unrecorded' in found ? await changeRecord(this.#needs.state, record, () => found, options) : record;
      return { record: now, result: NOTHING, ...drifted };
    }
    failpoint('record.after-scan');
    const repository = await this.#needs.openRepository.open(options);
    const unreadable: RecordWarning[] = [];
    const size = { files: 0, bytes: 0 };
    const strays: string[] = [];
    const isSmall = () => size.files <= SMALL_FILES && size.bytes <= SMALL_BYTES;
    const result = await repository.record(
      record.id,
      {
        changes: measured(withoutStrays(changes, strays), size),
        contents: (paths, call) =>
          readContents(opened, paths, isSmall, (path) => unreadable.push({ type: 'unreadable', path }), call),
        message,
        secrets: opened.secrets.secrets,
      },
      options,
    );
    if (strays.length > 0) await removeStrays(opened, strays, options);
    // Only now: a mark that moved on before its changes were safe would lose them.
    failpoint('record.before-mark');
    const found = [...result.warnings.filter((warning) => !isOfOurs(warning, record)), ...unreadable.slice(0, 100)];
    // A name can hold a secret as well.
    const warnings = found.map((warning) => ({ ...warning, path: opened.secrets.redacted(warning.path) }));
    const change = { mark: scan.next, ...noted(unrecordedFiles({ ...result, warnings }, known)) };
    const updated = await changeRecord(this.#needs.state, record, () => change, options);
    failpoint('record.after-mark');
    await this.#publish(record, result, message);
    return { record: updated, result: { ...result, warnings }, ...drifted };
  }

  async #publish(record: SandboxRecord, { revision, changedFiles }: RevisionResult, { subject }: RevisionMessage) {
    if (!revision) return;
    const { number, commit } = revision;
    await this.#needs.state.publish({
      type: 'revision-recorded',
      repositoryId: record.repositoryId,
      sandbox: record.id,
      data: { number, commit, subject, files: changedFiles },
    });
  }
}

/** The throw-away repository is not recorded, and nobody expects it to be. */
function isOfOurs(warning: RecordWarning, { policy }: SandboxRecord): boolean {
  return policy.workspaceGit === 'throwaway' && warning.type === 'refused-path' && warning.path === '.git';
}

/** The same changes, or nothing when there are none. */
async function nonEmpty(changes: AsyncIterable<ChangedPath>): Promise<AsyncIterable<ChangedPath> | undefined> {
  const iterator = changes[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done) return undefined;
  return (async function* () {
    yield first.value;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  })();
}

/** Without temporary files of writes that were killed: whoever holds the lease has none at work, and they are nobody's change. */
async function* withoutStrays(
  changes: AsyncIterable<ChangedPath>,
  strays: string[],
): AsyncGenerator<ChangedPath, void, undefined> {
  for await (const change of changes) {
    if (change.type === 'file' && isStray(change.path)) {
      if (strays.length < MAX_STRAYS) strays.push(change.path);
    } else if (change.type === 'directory' && change.children.some(({ name }) => isStray(name))) {
      yield { ...change, children: change.children.filter(({ name, type }) => type !== 'file' || !isStray(name)) };
    } else yield change;
  }
}

/** A file that cannot be removed stays, and the next call does not record it either. */
async function removeStrays({ channel, runtime }: OpenedSandbox, paths: readonly string[], options?: CallOptions) {
  await channel.run({ argv: ['rm', '-f', '--', ...paths], cwd: runtime.workdir }, options);
}

async function* measured(
  changes: AsyncIterable<ChangedPath>,
  size: { files: number; bytes: number },
): AsyncGenerator<ChangedPath, void, undefined> {
  for await (const change of changes) {
    if (change.type === 'file') {
      size.files += 1;
      size.bytes += change.sizeBytes;
    }
    yield change;
  }
}
