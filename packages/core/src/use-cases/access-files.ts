import type { CommandOutcome } from '../channel/exec-channel.ts';
import { MAX_CHANNEL_STDIN_BYTES } from '../channel/exec-channel.ts';
import { LitterboxError, type LitterboxErrorCode } from '../domain/errors.ts';
import { reach } from '../domain/failpoint.ts';
import { assertMessage, revisionMessage } from '../domain/revision-message.ts';
import { shown } from '../domain/shown.ts';
import { workspacePath } from '../domain/workspace-path.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { CallOptions } from '../ports/call.ts';
import type { RecordResult } from '../ports/source-control.ts';
import type { SandboxRecord, StateStore } from '../ports/state-store.ts';
import { audited } from './audited.ts';
import { currentRecord } from './change-record.ts';
import type { FindSandbox } from './find-sandbox.ts';
import { assertUsable, type OpenedSandbox, type OpenSandboxes } from './open-sandboxes.ts';
import type { RecordRevision } from './record-revision.ts';

/** Largest file that is read or written as a whole. Larger ones are for commands inside the sandbox. */
export const MAX_FILE_BYTES = 64 * 2 ** 20;

/** Exit codes of the scripts below. */
const REFUSALS: Readonly<Record<number, readonly [code: LitterboxErrorCode, what: string]>> = {
  40: ['NOT_FOUND', 'does not exist'],
  41: ['IS_A_DIRECTORY', 'is a directory'],
  42: ['NOT_A_REGULAR_FILE', 'is not a regular file'],
  43: ['FILE_TOO_LARGE', `is larger than ${MAX_FILE_BYTES} bytes`],
  44: ['NOT_A_DIRECTORY', 'lies below, or is itself, what is not a directory'],
};

/** One byte more than may be read shows that there is more, and a file of a terabyte ends there too. */
const READ_SCRIPT = `if [ ! -e "$1" ]; then
  p=$1
  while p=\${p%/*} && [ -n "$p" ]; do
    [ -e "$p" ] || continue
    [ -d "$p" ] || exit 44
    break
  done
  exit 40
fi
[ -d "$1" ] && exit 41
[ -f "$1" ] || exit 42
exec head -c ${MAX_FILE_BYTES + 1} <"$1"`;

/** A temporary file and a rename: whoever reads meanwhile sees the old file or the new one, and a full disk leaves the old. */
const WRITE_SCRIPT = `f=$1
if [ -h "$f" ]; then f=$(readlink -f "$f") || exit 40; fi
[ -d "$f" ] && exit 41
if [ -e "$f" ] && [ ! -f "$f" ]; then exit 42; fi
case $f in */) if [ -e "\${f%/}" ]; then exit 44; else exit 41; fi ;; esac
mkdir -p "\${f%/*}" 2>/dev/null || exit 44
t=$f.litterbox-$$
trap 'rm -f "$t"' EXIT
cat >"$t" || exit 1
if [ -x "$f" ]; then chmod +x "$t"; fi
mv -f "$t" "$f"`;

/** Reads and writes files of a sandbox, inside the sandbox: no path of it ever means anything on the host. */
export class AccessFiles {
  readonly #find: FindSandbox;
  readonly #open: OpenSandboxes;
  readonly #state: StateStore;
  readonly #audit: AuditLog;
  readonly #record: RecordRevision;
  readonly #actor: string;

  constructor(
    find: FindSandbox,
    open: OpenSandboxes,
    state: StateStore,
    audit: AuditLog,
    record: RecordRevision,
    actor: string,
  ) {
    this.#find = find;
    this.#open = open;
    this.#state = state;
    this.#audit = audit;
    this.#record = record;
    this.#actor = actor;
  }

  /** @throws LitterboxError `NOT_FOUND`, `IS_A_DIRECTORY`, `NOT_A_REGULAR_FILE`, `FILE_TOO_LARGE`. */
  async read(name: string, path: string, options?: CallOptions): Promise<Uint8Array> {
    const record = await this.#find.execute(name, options);
    const target = workspacePath(record.workdir, path);
    try {
      return await this.#read(record, target, options);
    } catch (error) {
      options?.signal?.throwIfAborted();
      // A read takes no lease: a deletion meanwhile is the reason, whatever it looks like.
      assertUsable(await currentRecord(this.#state, record));
      throw error;
    }
  }

  async #read(record: SandboxRecord, target: string, options?: CallOptions): Promise<Uint8Array> {
    const { channel } = await this.#open.get(record, options);
    const outcome = await channel.run(
      {
        argv: ['sh', '-c', READ_SCRIPT, 'sh', target],
        timeoutMs: record.policy.timeoutMs,
        maxOutputBytes: MAX_FILE_BYTES,
      },
      options,
    );
    this.#assertDone('file.read', target, outcome, options);
    if (outcome.stdout.droppedBytes > 0) throw refusal('file.read', target, 43);
    return outcome.stdout.bytes;
  }

  /** Replaces the file and records it. @throws LitterboxError as {@link read}, and `PATH_GIT_DIR`. */
  async write(
    name: string,
    path: string,
    content: Uint8Array,
    message: string | undefined,
    options?: CallOptions,
  ): Promise<RecordResult> {
    if (content.length > MAX_FILE_BYTES) throw refusal('file.write', path, 43);
    const found = await this.#find.execute(name, options);
    const target = workspacePath(found.workdir, path, { isWritten: true });
    assertMessage(found, message);
    await using _lease = await this.#state.lease(`sandbox:${found.id}`, `write: ${path.slice(0, 60)}`, options);
    const record = await currentRecord(this.#state, found, options);
    const opened = await this.#open.get(record, options);
    const { recorded } = await audited(
      this.#audit,
      {
        operation: 'sandbox-write',
        actor: this.#actor,
        repositoryId: record.repositoryId,
        sandbox: record.id,
        input: { path: path.slice(0, 4096), bytes: content.length },
      },
      async () => {
        const outcome = await this.#write(opened, record, target, content, options);
        this.#assertDone('file.write', target, outcome, options);
        reach('write.after-rename');
        const { result } = await this.#record.execute(
          record,
          opened,
          revisionMessage({ tool: 'write', subject: path, message, sandbox: record.slug }),
        );
        return { recorded: result };
      },
      ({ recorded: { revision } }) => (revision ? { revision: revision.commit } : {}),
    );
    return recorded;
  }

  async #write(
    { runtime, channel }: OpenedSandbox,
    { policy }: SandboxRecord,
    target: string,
    content: Uint8Array,
    options?: CallOptions,
  ): Promise<Pick<CommandOutcome, 'exit' | 'interruption'>> {
    const argv = ['sh', '-c', WRITE_SCRIPT, 'sh', target] as const;
    if (content.length <= MAX_CHANNEL_STDIN_BYTES)
      return await channel.run({ argv, stdin: content, timeoutMs: policy.timeoutMs }, options);
    await using writer = await runtime.spawn({ argv, stdin: 'pipe' }, options);
    const listening = (async () => {
      for await (const _chunk of writer); // nothing of interest is said; unread output would hold it back
    })();
    await writer.write(content);
    await writer.closeStdin();
    await listening;
    return { exit: await writer.exit };
  }

  #assertDone(
    operation: string,
    target: string,
    { exit, interruption }: Pick<CommandOutcome, 'exit' | 'interruption'>,
    options?: CallOptions,
  ): void {
    if (interruption === 'abort') throw options?.signal?.reason;
    if (interruption === 'timeout')
      throw new LitterboxError('TIMED_OUT', `${shown(target)} took too long.`, {
        operation,
        hint: 'It may be a pipe or a device; look at it with ls -l in the sandbox.',
      });
    if (exit.code === 0 && !interruption) return;
    throw refusal(operation, target, exit.code);
  }
}

function refusal(operation: string, target: string, exitCode: number): LitterboxError {
  const [code, what] = REFUSALS[exitCode] ?? [
    'PERMISSION_DENIED' as const,
    `cannot be ${operation === 'file.read' ? 'read' : 'written'} (exit code ${exitCode})`,
  ];
  return new LitterboxError(code, `${shown(target)} ${what} in the sandbox.`, {
    operation,
    hint:
      code === 'FILE_TOO_LARGE'
        ? 'Work on it with a command inside the sandbox.'
        : 'Look with: litterbox run NAME -- ls -la.',
  });
}
