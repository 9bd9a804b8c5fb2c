import { ChannelProcess, type CommandHits } from '../../channel/channel-process.ts';
import { type ExecChannel, hitLimits, whatToRun } from '../../channel/exec-channel.ts';
import type { LimitCounts } from '../../channel/worker.ts';
import { INTERACTIVE_SHELL, shellArguments } from '../../channel/command-shell.ts';
import { HeardProcess } from '../../channel/heard-process.ts';
import { CALL_VARIABLE } from '../../channel/kill-tree.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import { spawnWithSecrets } from '../../channel/spawn-with-secrets.ts';
import { type Command, commandSubject } from '../../domain/processes/command.ts';
import { withoutSecretWords } from '../../domain/secrets/without-secrets.ts';
import type { Hint } from '../../domain/errors/next-step.ts';
import { isLitterboxError } from '../../domain/errors/errors.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import { assertMessage, revisionMessage } from '../../domain/sandbox/revision-message.ts';
import { workspacePath } from '../../domain/paths/workspace-path.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { ExitStatus } from '../../domain/processes/exit-status.ts';
import type { ProcessHandle, TerminalSize } from '../../ports/common/process.ts';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { killMarked } from '../../services/kill-marked.ts';
import { commandVariables } from '../../services/command-variables.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { busyText, holderOf } from '../common/lease-sandbox.ts';
import { liveTreeChanged } from '../session/live-tree.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import { type KeepPrinted, MAX_PRINTED_BYTES } from '../record/keep-printed.ts';
import type { Recorded, RecordRevision } from '../record/record-revision.ts';
import { bothResults } from '../record/both-results.ts';
import { RecordMeanwhile } from '../record/record-meanwhile.ts';
import type { AttachInput } from './attach-input.ts';
import { assertVariables } from './assert-variables.ts';
import { checkedCommand } from './checked-command.ts';
import { commandHints } from './command-hints.ts';

/** A process a person works with. */
export interface AttachedProcess extends AsyncDisposable {
  /** The process itself: its output, its input, its end. */
  readonly process: ProcessHandle;
  /** The policy's timeout for a command that has none of its own; nothing here ends it. */
  readonly timeoutMs: number;
  /** The other call at work in the sandbox, in one sentence. Nobody is kept out. */
  readonly notice?: string;
  /** Call it once the process has ended: records what it changed and closes its entry in the audit log. */
  finish(exit: ExitStatus): Promise<FinishedProcess>;
}

/** The result of a process that a person worked with. */
export interface FinishedProcess extends RevisionResult {
  /** Limits and rules of the sandbox that had to do with it, a sentence each; mostly empty. */
  readonly hints: readonly Hint[];
}

interface Needs {
  readonly findSandbox: FindSandbox;
  readonly openSandboxes: OpenSandboxes;
  readonly state: StateStore;
  readonly audit: AuditLog;
  readonly recordRevision: RecordRevision;
  readonly keepPrinted: KeepPrinted;
  readonly clock: Clock;
  readonly actor: string;
}

/** Starts a process that is read from and written to live. It holds no lease: a person may look while an agent works. */
export class AttachProcess {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async attach(
    {
      sandbox,
      command = INTERACTIVE_SHELL,
      terminal,
      env = {},
      cwd,
      tool = 'shell',
      message: givenMessage,
      subject: given,
      callId,
      isMerged = false,
      noInput = false,
      endsAll = false,
      recordsMeanwhile = false,
    }: AttachInput,
    options?: CallOptions,
  ): Promise<AttachedProcess> {
    checkedCommand(command);
    assertVariables('sandbox.attach', env);
    const found = await this.#needs.findSandbox.find(sandbox, options);
    assertMessage(found, givenMessage);
    const how: HowToStart = {
      command,
      cwd: workspacePath(found.workdir, cwd ?? '.'),
      env: {
        ...commandVariables(found, 'run'),
        ...(command === INTERACTIVE_SHELL && promptVariables(found.slug)),
        ...env,
      },
      isMerged,
      terminal,
      mark: crypto.randomUUID(),
    };
    const opened = await this.#needs.openSandboxes.get(found, options);
    await this.#needs.openSandboxes.reconnect(found, options);
    const notice = await this.#others(found);
    const words = given ?? (command === INTERACTIVE_SHELL ? 'interactive' : commandSubject(command));
    const subject = opened.secrets.redacted(words);
    const message = givenMessage === undefined ? undefined : opened.secrets.redacted(givenMessage);
    const finishAudit = await this.#needs.audit.start({
      operation: tool === 'shell' ? 'sandbox-shell' : 'sandbox-run',
      actor: this.#needs.actor,
      repositoryId: found.repositoryId,
      sandbox: found.id,
      input: {
        command: withoutSecretWords(subject.slice(0, 4096)),
        ...(callId !== undefined && { callId }),
        ...(message !== undefined && { message: withoutSecretWords(message.slice(0, 200)) }),
      },
    });
    const startedMs = performance.now();
    const { process, hits } = await (noInput && !terminal && !endsAll ? byChannel : byRuntime)(
      opened,
      how,
      options,
    ).catch(async (error: unknown) => {
      await finishAudit('error', {});
      throw error;
    });
    let isFinished = false;
    const recorded = async (exit?: ExitStatus): Promise<Pick<Recorded, 'result' | 'drift'>> => {
      // While it works it waits for nobody: there is a next time.
      await using _lease = await this.#needs.state.lease(`sandbox:${found.id}`, tool, exit ? {} : { waitMs: 0 });
      const record = (await this.#needs.state.get(found.id)) ?? found;
      return await this.#needs.recordRevision.record(
        record,
        opened,
        revisionMessage({
          tool,
          subject,
          detail: subject,
          message,
          sandbox: record.slug,
          callId,
          ...(exit && { exitCode: exit.code, durationMs: performance.now() - startedMs }),
        }),
      );
    };
    let meanwhile = NOTHING;
    const recording = recordsMeanwhile
      ? new RecordMeanwhile({
          clock: this.#needs.clock,
          look: async () =>
            (await opened.runtime.scan(((await this.#needs.state.get(found.id)) ?? found).mark)).changes,
          record: async () => void (meanwhile = bothResults(meanwhile, (await recorded()).result)),
        })
      : undefined;
    const finish = async (exit: ExitStatus): Promise<FinishedProcess> => {
      isFinished = true;
      await recording?.[Symbol.asyncDispose]();
      if (endsAll) await killMarked(opened.channel, how.mark);
      const exitCode = exit.code;
      const hit = await hits();
      // A terminal is sent pictures of a screen, with what a person typed in them: nothing of those is kept.
      const printed = terminal ? undefined : this.#needs.keepPrinted.keep(found, process.printed);
      // The command has run although it could not be recorded: its entry in the log ends.
      const { result: last, drift } = await recorded(exit).catch(async (error: unknown) => {
        await finishAudit('error', {
          ...(await printed),
          exitCode,
          ...(isLitterboxError(error) && { code: error.code }),
        });
        throw error;
      });
      const result = bothResults(meanwhile, last);
      await finishAudit('ok', {
        ...(await printed),
        exitCode,
        ...(result.revision && { revision: result.revision.commit }),
      });
      // A person who saw a command fail in a shell went on from it.
      const text = tool === 'run' ? decodeRaw(process.last) : '';
      const hints = commandHints(found.policy, { exit, text, ...hit }, 'person');
      return { ...result, hints: [...hints, ...(drift ? [liveTreeChanged(found, drift).message] : [])] };
    };
    return {
      process,
      finish,
      timeoutMs: found.policy.timeoutMs,
      ...(notice !== undefined && { notice }),
      async [Symbol.asyncDispose]() {
        await process[Symbol.asyncDispose]();
        if (!isFinished) await finish({ code: 137, signal: 'SIGKILL' }); // left by an error or an abort: what it changed is recorded all the same
      },
    };
  }

  /** Whether a call is going on in the sandbox. Asked for without waiting. */
  async #others(sandbox: SandboxRecord): Promise<string | undefined> {
    const holder = await holderOf(this.#needs.state, sandbox);
    return holder && `${busyText(sandbox, holder)} Your shell opens anyway.`;
  }
}

const NOTHING: RevisionResult = { changedFiles: 0, warnings: [], moreWarnings: 0 };

/** A person sees which sandbox a shell is in: by the prompt itself, and by what Debian's own prompt begins with. */
const promptVariables = (slug: string) => ({ PS1: `(${slug}) $ `, debian_chroot: slug });

interface HowToStart {
  readonly command: Command;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly isMerged: boolean;
  readonly terminal: TerminalSize | undefined;
  /** By which its processes are known. */
  readonly mark: string;
}

interface Started {
  readonly process: HeardProcess;
  /** Limits of the sandbox that had to do with it, once it has ended. */
  hits(): Promise<CommandHits>;
}

async function byChannel(
  { channel, secrets }: OpenedSandbox,
  { command, cwd, env: given, isMerged }: HowToStart,
  options?: CallOptions,
): Promise<Started> {
  const env = { ...secrets.variables, ...given };
  const started = await ChannelProcess.start(channel, { ...whatToRun(command), cwd, env, isMerged }, options);
  return {
    process: new HeardProcess(started, MAX_PRINTED_BYTES),
    hits: async () => await started.hits.catch(() => ({})),
  };
}

async function byRuntime(
  opened: OpenedSandbox,
  { command, cwd, env, isMerged, terminal, mark }: HowToStart,
  options?: CallOptions,
): Promise<Started> {
  const { channel, guard, runtime } = opened;
  const before = await counted(channel);
  const argv = typeof command === 'string' ? shellArguments(command) : command;
  const started = await spawnWithSecrets(
    opened,
    {
      argv: isMerged ? ['sh', '-c', 'exec "$@" 2>&1', 'sh', ...argv] : argv,
      env: { ...runtime.environment, [CALL_VARIABLE]: mark, ...env },
      stdin: 'pipe',
      cwd,
      ...(terminal && { terminal }),
    },
    options,
  );
  const unwatch = guard.watch('none', mark);
  void started.exit.then(unwatch, unwatch);
  return {
    process: new HeardProcess(started, MAX_PRINTED_BYTES),
    async hits() {
      const after = before && (await counted(channel));
      return before && after ? hitLimits(before, after) : {};
    },
  };
}

/** The process itself does not depend on it: where it cannot be looked up, it is left out. */
async function counted(channel: ExecChannel): Promise<LimitCounts | undefined> {
  return await channel.limitCounts().catch(() => undefined);
}
