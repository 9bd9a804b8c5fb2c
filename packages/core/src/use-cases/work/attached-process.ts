import { type OpenedSandbox, scanOf } from '../../channel/opened-sandbox.ts';
import type { Hint } from '../../domain/errors/next-step.ts';
import { isLitterboxError } from '../../domain/errors/errors.ts';
import type { ExitStatus } from '../../domain/processes/exit-status.ts';
import { revisionMessage } from '../../domain/sandbox/revision-message.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { ProcessHandle } from '../../ports/common/process.ts';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import type { AuditFinish } from '../../ports/state/audit-log.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { killMarked } from '../../services/kill-marked.ts';
import { bothResults } from '../record/both-results.ts';
import type { KeepPrinted } from '../record/keep-printed.ts';
import { RecordMeanwhile } from '../record/record-meanwhile.ts';
import type { Recorded, RecordRevision } from '../record/record-revision.ts';
import { liveTreeChanged } from '../session/live-tree.ts';
import { commandHints } from './command-hints.ts';
import type { HowToStart, StartedProcess } from './start-attached.ts';

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
  readonly state: StateStore;
  readonly recordRevision: RecordRevision;
  readonly keepPrinted: KeepPrinted;
  readonly clock: Clock;
}

/** The call that a process belongs to. */
export interface AttachedCall {
  readonly found: SandboxRecord;
  readonly opened: OpenedSandbox;
  readonly how: HowToStart;
  readonly started: StartedProcess;
  readonly startedMs: number;
  readonly finishAudit: AuditFinish;
  readonly notice: string | undefined;
  readonly tool: string;
  readonly subject: string;
  readonly message: string | undefined;
  readonly callId: string | undefined;
  readonly endsAll: boolean;
  readonly recordsMeanwhile: boolean;
}

/** A process at work: what it changes is recorded meanwhile where that is asked for, and at its end. */
export class ProcessAtWork implements AttachedProcess {
  readonly process: ProcessHandle;
  readonly timeoutMs: number;
  readonly notice?: string;
  readonly #needs: Needs;
  readonly #call: AttachedCall;
  readonly #recording: RecordMeanwhile | undefined;
  #meanwhile: RevisionResult = { changedFiles: 0, warnings: [], moreWarnings: 0 };
  #isFinished = false;

  constructor(needs: Needs, call: AttachedCall) {
    this.#needs = needs;
    this.#call = call;
    this.process = call.started.process;
    this.timeoutMs = call.found.policy.timeoutMs;
    if (call.notice !== undefined) this.notice = call.notice;
    this.#recording = call.recordsMeanwhile ? this.#recordMeanwhile() : undefined;
  }

  async finish(exit: ExitStatus): Promise<FinishedProcess> {
    const { found, opened, how, started, finishAudit, tool, endsAll } = this.#call;
    this.#isFinished = true;
    await this.#recording?.[Symbol.asyncDispose]();
    if (endsAll) await killMarked(opened.channel, how.mark);
    const exitCode = exit.code;
    const hit = await started.hits();
    // A terminal is sent pictures of a screen, with what a person typed in them: nothing of those is kept.
    const printed = how.terminal ? undefined : this.#needs.keepPrinted.keep(found, started.process.printed);
    // The command has run although it could not be recorded: its entry in the log ends.
    const { result: last, drift } = await this.#record(exit).catch(async (error: unknown) => {
      const code = isLitterboxError(error) && { code: error.code };
      await finishAudit('error', { ...(await printed), exitCode, ...code });
      throw error;
    });
    const result = bothResults(this.#meanwhile, last);
    const revision = result.revision && { revision: result.revision.commit };
    await finishAudit('ok', { ...(await printed), exitCode, ...revision });
    // A person who saw a command fail in a shell went on from it.
    const text = tool === 'run' ? decodeRaw(started.process.last) : '';
    const hints = commandHints(found.policy, { exit, text, ...hit }, 'person');
    return { ...result, hints: [...hints, ...(drift ? [liveTreeChanged(found, drift).message] : [])] };
  }

  /** Left by an error or an abort: what it changed is recorded all the same. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
    if (!this.#isFinished) await this.finish({ code: 137, signal: 'SIGKILL' });
  }

  #recordMeanwhile(): RecordMeanwhile {
    const { found, opened } = this.#call;
    return new RecordMeanwhile({
      clock: this.#needs.clock,
      look: async () => (await scanOf(opened, ((await this.#needs.state.get(found.id)) ?? found).mark)).changes,
      record: async () => {
        this.#meanwhile = bothResults(this.#meanwhile, (await this.#record()).result);
      },
    });
  }

  /** @param exit absent while it works: then nobody is waited for, because there is a next time */
  async #record(exit?: ExitStatus): Promise<Pick<Recorded, 'result' | 'drift'>> {
    const { found, opened, tool, subject, message, callId, startedMs } = this.#call;
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
  }
}
