import type { ChannelCommand, CommandOutcome } from '../channel/exec-channel.ts';
import { LitterboxError } from '../domain/errors.ts';
import { reach } from '../domain/failpoint.ts';
import { assertMessage, revisionMessage } from '../domain/revision-message.ts';
import { shown } from '../domain/shown.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { CallOptions } from '../ports/call.ts';
import type { OutputChunk } from '../ports/process.ts';
import type { RecordResult } from '../ports/source-control.ts';
import type { SandboxRecord, StateStore } from '../ports/state-store.ts';
import { assertVariables } from './assert-variables.ts';
import { audited } from './audited.ts';
import { checkedCommand } from './checked-command.ts';
import { currentRecord } from './change-record.ts';
import type { FindSandbox } from './find-sandbox.ts';
import type { OpenedSandbox, OpenSandboxes } from './open-sandboxes.ts';
import type { RecordRevision } from './record-revision.ts';

export interface RunCommandInput {
  readonly sandbox: string;
  /** A shell command for `sh -c`, or arguments that arrive verbatim. */
  readonly command: string | readonly [string, ...string[]];
  /** What called: the revision's subject begins with it. @defaultValue 'run' */
  readonly tool?: string | undefined;
  /** Absolute inside the sandbox, or relative to the workdir. @defaultValue the workdir */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: Uint8Array | undefined;
  /** Milliseconds until the whole process tree is killed. @defaultValue the policy's */
  readonly timeoutMs?: number | undefined;
  readonly maxOutputBytes?: number | undefined;
  /** The revision's subject, in the caller's words. */
  readonly message?: string | undefined;
  readonly onOutput?: ((chunk: OutputChunk) => void) | undefined;
}

export interface RunCommandResult extends CommandOutcome {
  readonly recorded: RecordResult;
}

/** Runs one command in a sandbox and records what it changed, also when it fails, times out or is aborted. */
export class RunCommand {
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

  async execute(input: RunCommandInput, options?: CallOptions): Promise<RunCommandResult> {
    const { command, tool = 'run' } = input;
    const text = checkedCommand(command);
    assertTimeout(input.timeoutMs);
    assertVariables('sandbox.run', input.env);
    const found = await this.#find.execute(input.sandbox, options);
    assertMessage(found, input.message);
    await using _lease = await this.#state.lease(`sandbox:${found.id}`, `${tool}: ${text.slice(0, 60)}`, options);
    const current = await currentRecord(this.#state, found, options);
    const opened = await this.#open.get(current, options);
    return await audited(
      this.#audit,
      {
        operation: 'sandbox-run',
        actor: this.#actor,
        repositoryId: current.repositoryId,
        sandbox: current.id,
        input: { command: text.slice(0, 4096), tool },
      },
      async () => {
        reach('exec.after-start');
        const record = await this.#recordLeftOver(current, opened);
        const outcome = await opened.channel.run(channelCommand(input, record), options);
        reach('exec.after-exit');
        const recorded = await this.#record.execute(
          record,
          opened,
          revisionMessage({
            tool,
            subject: text,
            detail: text,
            message: input.message,
            sandbox: record.slug,
            exitCode: outcome.exit.code,
            durationMs: outcome.durationMs,
          }),
        );
        reach('exec.after-record');
        if (outcome.interruption === 'abort') throw options?.signal?.reason;
        return { ...outcome, recorded: recorded.result };
      },
      ({ exit, durationMs, interruption, recorded }) => ({
        exitCode: exit.code,
        durationMs: Math.round(durationMs),
        ...(interruption && { interruption }),
        ...(recorded.revision && { revision: recorded.revision.commit }),
      }),
    );
  }

  /** What a process that was killed before it could record left behind is a revision of its own, not part of this one. */
  async #recordLeftOver(record: SandboxRecord, opened: OpenedSandbox): Promise<SandboxRecord> {
    if (!opened.mayHoldUnrecorded) return record;
    const updated = await this.#record.leftOver(record, opened);
    opened.mayHoldUnrecorded = false;
    return updated;
  }
}

function channelCommand(input: RunCommandInput, { workdir, policy }: SandboxRecord): ChannelCommand {
  const { command, cwd, env, stdin, timeoutMs, maxOutputBytes, onOutput } = input;
  return {
    argv: typeof command === 'string' ? ['sh', '-c', command] : command,
    cwd: cwd === undefined ? workdir : absolutePath(workdir, cwd),
    env,
    stdin,
    timeoutMs: timeoutMs ?? policy.timeoutMs,
    maxOutputBytes,
    onOutput,
  };
}

/** Inside the sandbox; what it leads to is the sandbox's own business. */
function absolutePath(workdir: string, path: string): string {
  if (/^\/(proc|sys|dev)(\/|$)/.test(path)) {
    throw new LitterboxError('WORKDIR_FORBIDDEN', `A command cannot start in ${shown(path)}.`, {
      operation: 'sandbox.run',
      hint: 'Start it in the workspace, the home directory or the playground.',
    });
  }
  return path.startsWith('/') ? path : `${workdir}/${path}`;
}

/** Longest that a timer of JavaScript can wait; a longer one would end the command at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

function assertTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS)) return;
  throw new LitterboxError(
    'ARG_RANGE',
    `The timeout is ${timeoutMs} ms; it has to be above 0 and at most ${MAX_TIMEOUT_MS}.`,
    {
      operation: 'sandbox.run',
      hint: 'Leave it out for the timeout of the policy.',
    },
  );
}
