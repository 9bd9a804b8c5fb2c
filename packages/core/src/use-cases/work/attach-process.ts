import { INTERACTIVE_SHELL } from '../../channel/command-shell.ts';
import { commandSubject } from '../../domain/processes/command.ts';
import { assertMessage } from '../../domain/sandbox/revision-message.ts';
import { withoutSecretWords } from '../../domain/secrets/without-secrets.ts';
import { workspacePath } from '../../domain/paths/workspace-path.ts';
import type { AuditLog } from '../../ports/state/audit-log.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { Clock } from '../../ports/common/clock.ts';
import type { SandboxRecord, StateStore } from '../../ports/state/state-store.ts';
import { commandVariables } from '../../services/command-variables.ts';
import type { FindSandbox } from '../common/find-sandbox.ts';
import { busyText, holderOf } from '../common/lease-sandbox.ts';
import type { OpenSandboxes } from '../session/open-sandboxes.ts';
import type { KeepPrinted } from '../record/keep-printed.ts';
import type { RecordRevision } from '../record/record-revision.ts';
import type { AttachInput } from './attach-input.ts';
import { type AttachedProcess, ProcessAtWork } from './attached-process.ts';
import { assertVariables } from './assert-variables.ts';
import { checkedCommand } from './checked-command.ts';
import { byChannel, byRuntime, type HowToStart } from './start-attached.ts';

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
    const start = noInput && !terminal && !endsAll ? byChannel : byRuntime;
    const started = await start(opened, how, options).catch(async (error: unknown) => {
      await finishAudit('error', {});
      throw error;
    });
    const call = { found, opened, how, started, startedMs, finishAudit, notice, tool, subject, message, callId };
    return new ProcessAtWork(this.#needs, { ...call, endsAll, recordsMeanwhile });
  }

  /** Whether a call is going on in the sandbox. Asked for without waiting. */
  async #others(sandbox: SandboxRecord): Promise<string | undefined> {
    const holder = await holderOf(this.#needs.state, sandbox);
    return holder && `${busyText(sandbox, holder)} Your shell opens anyway.`;
  }
}

/** A person sees which sandbox a shell is in: by the prompt itself, and by what Debian's own prompt begins with. */
const promptVariables = (slug: string) => ({ PS1: `(${slug}) $ `, debian_chroot: slug });
