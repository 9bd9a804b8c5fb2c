import type { CommandShell } from '../../channel/command-shell.ts';
import { type ChannelCommand, MAX_CHANNEL_STDIN_BYTES, whatToRun } from '../../channel/channel-command.ts';
import { type CommandOutcome } from '../../channel/command-outcome.ts';
import type { OpenedSandbox } from '../../channel/opened-sandbox.ts';
import type { Command } from '../../domain/processes/command.ts';
import { LitterboxError } from '../../domain/errors/errors.ts';
import type { Hint } from '../../domain/errors/next-step.ts';
import { failpoint } from '../../domain/errors/failpoint.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import { decodeRaw } from '../../domain/text/raw-text.ts';
import { shown } from '../../domain/text/shown.ts';
import { workspacePath } from '../../domain/paths/workspace-path.ts';
import { writeContent } from '../../inside/file-contents.ts';
import type { CallOptions, ProgressOptions } from '../../ports/common/call.ts';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import { withoutSecretWords } from '../../domain/secrets/without-secrets.ts';
import { commandVariables } from '../../services/command-variables.ts';
import { assertVariables } from './assert-variables.ts';
import type { ChangeWorkspace } from './change-workspace.ts';
import { checkedCommand } from './checked-command.ts';
import { commandHints } from './command-hints.ts';

/** A command to run and to record. */
export interface RunCommandInput {
  readonly sandbox: string;
  /** A text for the sandbox's shell, or arguments that arrive verbatim. */
  readonly command: Command;
  /** Text for the shell that is run in its place, which nobody is shown. */
  readonly inPlace?: string | undefined;
  /** The tool that called: the revision's subject begins with it. @defaultValue 'run' */
  readonly tool?: string | undefined;
  /** Absolute inside the sandbox, or relative to the workdir. @defaultValue the workdir */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: Uint8Array | undefined;
  /** Milliseconds until the whole process tree is killed. @defaultValue the policy's */
  readonly timeoutMs?: number | undefined;
  readonly maxOutputBytes?: number | undefined;
  /** How long to wait for another call in this sandbox to end. @defaultValue 10 s */
  readonly waitMs?: number | undefined;
  /** The revision's subject, in the caller's words. */
  readonly message?: string | undefined;
  /** A promise holds the command back until it resolves. What it throws ends the command, and the call rejects with it. */
  readonly onOutput?: ChannelCommand['onOutput'];
  readonly isMerged?: ChannelCommand['isMerged'];
  readonly onStart?: ChannelCommand['onStart'];
  /** Told how far the command had come when the caller took it back: nothing else tells it then. */
  readonly onTakenBack?: ((outcome: CommandOutcome) => void) | undefined;
  /** Told how the command went when the call fails all the same, because what it changed could not be recorded. */
  readonly onUnrecorded?: ((outcome: CommandOutcome) => void) | undefined;
}

/** Length of the end of each stream that is searched for limits and rules. */
const SEARCHED_BYTES = 64 * 1024;
/** How a command went, and the revision that it left, if any. */
export interface RunCommandResult extends CommandOutcome {
  /** The shell that ran a command given as text. */
  readonly shell?: CommandShell;
  readonly recorded: RevisionResult;
  /** Limits and rules of the sandbox that had to do with its end, a sentence each; mostly empty. */
  readonly hints: readonly Hint[];
}

interface Needs {
  readonly changeWorkspace: ChangeWorkspace;
}

/** Runs one command in a sandbox and records what it changed, also when it fails, times out or is aborted. */
export class RunCommand {
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  async run(input: RunCommandInput, options?: ProgressOptions): Promise<RunCommandResult> {
    const { command, sandbox, message, waitMs, tool = 'run' } = input;
    const text = checkedCommand(command);
    assertTimeout(input.timeoutMs);
    assertVariables('sandbox.run', input.env);
    let policy: Policy | undefined;
    const listener = new AbortController();
    const heard = { onOutput: guarded(input.onOutput, listener), onStart: guarded(input.onStart, listener) };
    const signal = options?.signal ? AbortSignal.any([options.signal, listener.signal]) : listener.signal;
    const { outcome, recorded } = await this.#needs.changeWorkspace.change<
      CommandOutcome & Pick<RunCommandResult, 'shell'>
    >(
      {
        sandbox,
        operation: 'sandbox-run',
        worksOn: input.inPlace !== undefined,
        trigger: { tool, subject: text, detail: text, message },
        input: { command: withoutSecretWords(text.slice(0, 4096)), tool },
        waitMs,
        async act(opened, record) {
          const { channel } = opened;
          policy = record.policy;
          const stdin = await stdinOf(opened, input.stdin, { signal });
          failpoint('exec.after-start');
          const env = { ...opened.secrets.variables, ...input.env };
          const asked = channelCommand({ ...input, ...heard, env }, record);
          const ended = await channel.run({ ...asked, ...stdin }, { signal });
          failpoint('exec.after-exit');
          const { shell } = channel;
          return typeof command === 'string' && shell !== undefined ? { ...ended, shell } : ended;
        },
        facts: ({ exit, durationMs }) => ({ exitCode: exit.code, durationMs }),
        summary: ({ exit, durationMs, interruption }) => ({
          exitCode: exit.code,
          durationMs: Math.round(durationMs),
          ...(interruption && { interruption }),
        }),
        printed: (ended) => ended,
        unrecorded: (ended) => input.onUnrecorded?.(ended),
        settled(ended) {
          listener.signal.throwIfAborted();
          if (ended.interruption !== 'abort') return;
          input.onTakenBack?.(ended);
          throw options?.signal?.reason;
        },
      },
      options,
    );
    const { stdout, stderr } = outcome;
    const printed = [stdout, stderr].map(({ bytes }) => decodeRaw(bytes.slice(-SEARCHED_BYTES))).join('\n');
    // Agents are told in their own words.
    const reader = tool === 'run' ? 'person' : 'agent';
    return { ...outcome, recorded, hints: policy ? commandHints(policy, { ...outcome, text: printed }, reader) : [] };
  }
}

/** An error of the caller's function ends the command: the signal has it as its reason. The function is not called again. */
function guarded<Heard>(
  listen: ((heard: Heard) => unknown) | undefined,
  failed: AbortController,
): ((heard: Heard) => Promise<void>) | undefined {
  if (!listen) return undefined;
  return async (heard) => {
    try {
      if (!failed.signal.aborted) await listen(heard);
    } catch (error) {
      failed.abort(error);
    }
  };
}

function channelCommand(input: RunCommandInput, record: SandboxRecord): ChannelCommand {
  const { workdir, policy } = record;
  const { command, inPlace = command, cwd, env, timeoutMs, maxOutputBytes, onOutput, onStart, isMerged } = input;
  return {
    ...whatToRun(inPlace),
    cwd: cwd === undefined ? workdir : absolutePath(workdir, cwd),
    env: { ...commandVariables(record, 'run'), ...env },
    timeoutMs: timeoutMs ?? policy.timeoutMs,
    maxOutputBytes,
    onOutput,
    onStart,
    isMerged,
  };
}

/** Much input would take the channel's shell long: it lies in a file of the playground until the command has it. */
async function stdinOf(
  opened: OpenedSandbox,
  stdin: Uint8Array | undefined,
  options: CallOptions,
): Promise<Pick<ChannelCommand, 'stdin' | 'stdinFile'>> {
  if (stdin === undefined || stdin.length <= MAX_CHANNEL_STDIN_BYTES) return { stdin };
  const stdinFile = `${opened.runtime.playground}/.stdin-${crypto.randomUUID().slice(0, 8)}`;
  await writeContent(opened, stdinFile, stdin, options);
  return { stdinFile };
}

/** Inside the sandbox; what it leads to is the sandbox's own business. */
function absolutePath(workdir: string, path: string): string {
  const absolute = path.startsWith('/') ? path : `${workdir}/${path}`;
  if (/^\/(proc|sys|dev)(\/|$)/.test(workspacePath(workdir, path))) {
    throw new LitterboxError('WORKDIR_FORBIDDEN', `A command cannot start in ${shown(path)}.`, {
      operation: 'sandbox.run',
      hint: 'Start it in the workspace, the home directory or the playground.',
    });
  }
  return absolute; // as given: what `..` behind a link means is known inside
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
      hint: 'Leave it out to use limits.timeout.',
    },
  );
}
