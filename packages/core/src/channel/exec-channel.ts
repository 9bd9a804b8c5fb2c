import type { Command } from '../domain/processes/command.ts';
import { LitterboxError } from '../domain/errors/errors.ts';
import { shown } from '../domain/text/shown.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { ExitStatus } from '../domain/processes/exit-status.ts';
import type { SignalName } from '../domain/processes/signal-name.ts';
import type { OutputChunk, ProcessHandle, ProcessSpec } from '../ports/common/process.ts';
import { type CommandShell, RUN_TEXT } from './command-shell.ts';
import type { CallGuard } from './call-guard.ts';
import { CALL_VARIABLE, KILL_FUNCTION, SIGNAL_FUNCTION } from './kill-tree.ts';
import { type KeptOutput, BoundedOutput } from './bounded-output.ts';
import { type HeldSecrets, NO_SECRETS } from './held-secrets.ts';
import { RedactedOutput } from './redacted-output.ts';
import { printfFormat, quoted } from './shell-text.ts';
import { ENTERED, type LimitCounts, report, type ScriptEnd, Worker } from './worker.ts';

/** The part of a runtime that the channel needs. */
export interface ChannelTarget {
  spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle>;
}

/** Hears output as it comes. A promise that it returns is waited for before more is read, and must not reject. */
export type OutputListener = (chunk: OutputChunk) => unknown;

/** One command for the exec channel, and the bounds it runs in. */
export interface ChannelCommand {
  /** Verbatim arguments; the program is looked up in PATH. At most 128 KiB each. */
  readonly argv: readonly [string, ...string[]];
  /**
   * Text of ours that the channel's own shell runs in place of a program, with `argv` as its `$1 $2 …`: what builtins do costs no
   * exec then. Never an agent's.
   */
  readonly script?: string | undefined;
  /** Absolute. @defaultValue where the runtime starts processes */
  readonly cwd?: string | undefined;
  /** Added to the runtime's environment for this command. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** At most {@link MAX_CHANNEL_STDIN_BYTES}: more goes through the runtime's own spawn, or lies in a file. */
  readonly stdin?: Uint8Array | undefined;
  /** In place of it an absolute path inside, which the command reads, and which is removed as soon as it is open. */
  readonly stdinFile?: string | undefined;
  /** The whole process tree is killed after so many milliseconds. Absent: never. */
  readonly timeoutMs?: number | undefined;
  /** Kept per stream; the rest is counted and dropped. @defaultValue 1 MiB */
  readonly maxOutputBytes?: number | undefined;
  /** Every chunk as it comes, before any cut. A promise holds the command back until it resolves. Must not throw, nor reject. */
  readonly onOutput?: OutputListener | undefined;
  /** Errors go where output goes, in the order in which they are written: all arrives as `stdout-data`. @defaultValue false */
  readonly isMerged?: boolean | undefined;
  /** Secrets that the sandbox holds stay in the output: it is for Litterbox itself, which searches it. @defaultValue false */
  readonly isRaw?: boolean | undefined;
  /** Once, when the command has been started. Must not throw. */
  readonly onStart?: ((running: RunningCommand) => void) | undefined;
  /** Once, when the command has its directory and is about to be executed. Must not throw. */
  readonly onEntered?: (() => void) | undefined;
}

/** A command of the exec channel that goes on. */
export interface RunningCommand {
  /**
   * Sends a signal to the command and to what it waits for, as a terminal sends one to its foreground. What left the command's
   * process group hears nothing. Resolves when it was sent, or when the command has ended; the command may go on.
   */
  signal(name: SignalName): Promise<void>;
}

/** How a command of the exec channel went: output that was kept, exit, and what cut it short. */
export interface CommandOutcome {
  /** 128 + n when signal n ended it. */
  readonly exit: ExitStatus;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  readonly durationMs: number;
  /** Why it was ended by us, or lost. What it printed until then is in the output all the same. */
  readonly interruption?: 'timeout' | 'abort' | 'channel-lost';
  /** How many processes of the sandbox the kernel killed meanwhile because together they had reached the limit of memory; absent when none. */
  readonly killedForMemory?: number;
  /** How many processes of the sandbox could not be started meanwhile because there were as many as may be; absent when none. */
  readonly refusedProcesses?: number;
}

export const MAX_CHANNEL_STDIN_BYTES = 64 * 1024;
/** Linux's limit for one argument, its terminating NUL included (MAX_ARG_STRLEN). @see https://man7.org/linux/man-pages/man2/execve.2.html */
export const MAX_ARGUMENT_BYTES = 128 * 1024;
const DEFAULT_MAX_OUTPUT_BYTES = 2 ** 20;
/** How long after a kill the shell may take to say so, before it is given up with its command. */
const KILL_GRACE_MS = 3_000;
/**
 * Output by way of another process, as through `exec > >(tee log)`, comes when that has read its own end: so long is waited for whatever
 * still holds the output. A server in the background holds it for ever.
 */
const LAST_OUTPUT_WAITS_MS = [5, 15, 40, 120, 320];
/** Idle shells kept for the next command. */
const MAX_IDLE_WORKERS = 4;
/** A command that has just been asked for has its mark after its first exec; until then nothing would hear a signal. */
const SIGNAL_RETRY_MS = 20;

const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  11: 'SIGSEGV',
  12: 'SIGUSR2',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
  31: 'SIGSYS',
};

/** A shell's exit code as {@link ExitStatus}. */
export function exitStatusOf(code: number): ExitStatus {
  const signal = code > 128 ? SIGNALS[code - 128] : undefined;
  return signal === undefined ? { code } : { code, signal };
}

/**
 * The exec channel: commands through long-lived shells inside the sandbox, so that each costs one fork and one exec and
 * not what the runtime's own exec costs. Needs a POSIX `sh` and /proc inside, nothing else. Several commands run at
 * once, each in a shell of its own; a shell that an agent kills, or whose output a background process holds, is replaced.
 */
export class ExecChannel implements AsyncDisposable {
  readonly #target: ChannelTarget;
  readonly #guard: CallGuard | undefined;
  readonly #secrets: HeldSecrets;
  #idle: Worker[] = [];
  readonly #retired = new Set<Worker>();
  readonly #all = new Set<Worker>();
  #warming: Promise<Worker> | undefined;
  #killer: Promise<Worker> | undefined;
  #killing: Promise<unknown> = Promise.resolve();
  #isDisposed = false;
  #shell: CommandShell | undefined;

  /**
   * @param guard ends what runs here when this program is killed; absent for what ends with its input by itself
   * @param secrets taken out of the output of every command
   */
  constructor(target: ChannelTarget, guard?: CallGuard, secrets: HeldSecrets = NO_SECRETS) {
    this.#target = target;
    this.#guard = guard;
    this.#secrets = secrets;
  }

  /** The shell that runs commands given as text, see {@link whatToRun}. Unknown until the first command, or {@link warm}. */
  get shell(): CommandShell | undefined {
    return this.#shell;
  }

  /** Starts the first shell ahead of the first command, which waits for it rather than start another one. */
  async warm(options?: CallOptions): Promise<void> {
    if (this.#idle.length > 0) return;
    const warming = (this.#warming ??= this.#worker(options));
    try {
      const worker = await warming;
      if (this.#warming === warming) this.#idle.push(worker);
    } finally {
      if (this.#warming === warming) this.#warming = undefined;
    }
  }

  /**
   * Runs one command to its end. A non-zero exit, a timeout and an abort are outcomes, not errors.
   *
   * @throws LitterboxError `NOT_FOUND` when `cwd` is not there; `COMMAND_NUL`, `COMMAND_TOO_LONG`; `DISPOSED`; what `spawn` throws;
   *   `UNAVAILABLE` when the way to the sandbox is lost meanwhile.
   */
  async run(command: ChannelCommand, options?: CallOptions): Promise<CommandOutcome> {
    assertRunnable(command);
    options?.signal?.throwIfAborted();
    const callId = crypto.randomUUID();
    const startedMs = performance.now();
    const stdout = new BoundedOutput(command.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES);
    const stderr = new BoundedOutput(command.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES);
    const pass = (chunk: OutputChunk) => {
      (chunk.type === 'stdout-data' ? stdout : stderr).push(chunk.bytes);
      return command.onOutput?.(chunk);
    };
    const redacted = new RedactedOutput(command.isRaw ? NO_SECRETS : this.#secrets);
    const keep = (chunk: OutputChunk) => {
      const passed = redacted.push(chunk);
      return passed && pass(passed);
    };

    const worker = await this.#worker(options);
    let interruption: CommandOutcome['interruption'];
    let giveUp = () => {};
    const givenUp = new Promise<'given-up'>((resolve) => {
      giveUp = () => resolve('given-up');
    });
    let graceTimer: ReturnType<typeof setTimeout> | undefined;
    let killing: Promise<void> | undefined;
    const interrupt = (reason: 'timeout' | 'abort') => {
      if (interruption) return;
      interruption = reason;
      killing = this.#kill(worker, callId);
      void killing.finally(() => {
        graceTimer = setTimeout(giveUp, KILL_GRACE_MS);
      });
    };
    const onAbort = () => interrupt('abort');
    options?.signal?.addEventListener('abort', onAbort, { once: true });
    const unwatch = this.#guard?.watch(worker.pid, callId);
    const timer =
      command.timeoutMs === undefined ? undefined : setTimeout(() => interrupt('timeout'), command.timeoutMs);

    let end: ScriptEnd | 'given-up' | 'lost' | undefined;
    try {
      const script = worker.run(scriptOf(command, callId), keep, command.onEntered).catch((error: unknown) => {
        if (error instanceof LitterboxError && error.code === 'CHANNEL_BROKEN') return 'lost' as const;
        throw error;
      });
      command.onStart?.({ signal: (name) => this.#signal(worker, callId, name, () => end !== undefined) });
      end = await Promise.race([script, givenUp]);
    } finally {
      unwatch?.();
      clearTimeout(timer);
      clearTimeout(graceTimer);
      options?.signal?.removeEventListener('abort', onAbort);
    }
    await killing; // it ends what the shell runs: that must not be the next command by then
    const isHeld = typeof end === 'object' && end.isHeld && (await staysHeld(worker, keep));
    const isReusable = typeof end === 'object' && !isHeld && !this.#isDisposed;
    if (isReusable && this.#idle.length < MAX_IDLE_WORKERS) this.#idle.push(worker);
    else void this.#retire(worker, isHeld);
    if (typeof end === 'object' && end.reports.includes('no-cwd')) {
      throw new LitterboxError(
        'NOT_FOUND',
        `There is no directory ${shown(command.cwd ?? '')} in the sandbox, or its user may not enter it.`,
        {
          operation: 'channel.run',
          hint: 'Leave the directory out to start in the workspace.',
        },
      );
    }
    if (end === 'lost') interruption ??= 'channel-lost';
    for (const chunk of redacted.end()) await pass(chunk);
    return {
      exit: exitStatusOf(typeof end === 'object' ? end.code : 137),
      stdout: stdout.kept(),
      stderr: stderr.kept(),
      durationMs: performance.now() - startedMs,
      ...(interruption && { interruption }),
      ...(typeof end === 'object' && hitLimits(end.before, end.after)),
    };
  }

  /** Counts of how often limits struck since the sandbox was started, as far as the kernel tells it. For {@link hitLimits}. */
  async limitCounts(options?: CallOptions): Promise<LimitCounts> {
    const worker = await this.#worker(options);
    const end = await worker.run(':', () => {});
    if (!this.#isDisposed && this.#idle.length < MAX_IDLE_WORKERS && !end.isHeld) this.#idle.push(worker);
    else void this.#retire(worker, end.isHeld);
    return end.after;
  }

  /**
   * Runs text of ours in the shell that is kept for ending processes, once it was used. What needs no fork works there when the
   * sandbox is at its limit of processes. `lb_kill` is defined in it.
   *
   * @returns what the text reported with `report`, in order
   */
  async sweep(script: string): Promise<readonly string[]> {
    this.#assertUsable();
    return await this.#inKiller(script);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    const workers = [...this.#all];
    this.#idle = [];
    const all = [...workers, ...(this.#guard ? [this.#guard] : [])];
    await Promise.allSettled(all.map((one) => one[Symbol.asyncDispose]()));
    this.#all.clear();
  }

  async #worker(options?: CallOptions): Promise<Worker> {
    this.#assertUsable();
    for (let worker = this.#idle.pop(); worker; worker = this.#idle.pop()) {
      if (worker.isAlive) return worker;
      await this.#retire(worker, false);
    }
    const warming = this.#warming;
    this.#warming = undefined; // it is this caller's now
    const warmed = await warming?.catch(() => undefined);
    if (warmed?.isAlive) return warmed;
    return (await this.#reclaimed()) ?? (await this.#start(options));
  }

  /** A retired shell whose background process has ended meanwhile. Looks at one: the next command looks at the next. */
  async #reclaimed(): Promise<Worker | undefined> {
    const [worker] = this.#retired;
    if (!worker) return undefined;
    this.#retired.delete(worker);
    const end = await worker.run('lb_before=', () => {}).catch(() => undefined);
    if (end && !end.isHeld) return worker;
    await this.#retire(worker, end !== undefined);
    return undefined;
  }

  async #start(call?: CallOptions): Promise<Worker> {
    // The shell outlives the call for which it is started: an abort ends what runs in it, and finds the shell at work.
    const starting = new AbortController();
    const abort = () => starting.abort(call?.signal?.reason);
    if (call?.signal?.aborted) abort();
    call?.signal?.addEventListener('abort', abort, { once: true });
    const options = { ...call, signal: starting.signal };
    const worker = await Worker.start(
      (spec, each) => this.#target.spawn(spec, each),
      KILL_FUNCTION + SIGNAL_FUNCTION,
      options,
    ).finally(() => call?.signal?.removeEventListener('abort', abort));
    this.#all.add(worker);
    this.#shell = worker.shell;
    if (this.#isDisposed) {
      await this.#retire(worker, false);
      this.#assertUsable();
    }
    return worker;
  }

  /**
   * A shell that is held by a background process lives on, unused, so that the process keeps its output and is not
   * killed by a broken pipe; its output goes nowhere. Any other is ended.
   */
  async #retire(worker: Worker, isHeld: boolean): Promise<void> {
    if (isHeld && !this.#isDisposed) {
      this.#retired.add(worker);
      return;
    }
    this.#retired.delete(worker);
    this.#all.delete(worker);
    await worker[Symbol.asyncDispose]();
  }

  /** Ends everything a call started. One kill at a time: the killer is one shell. */
  #kill(worker: Worker, callId: string): Promise<void> {
    return this.#inKiller(`lb_kill ${worker.pid} ${callId}`).then(
      () => {},
      () => {}, // the next kill tries anew
    );
  }

  async #signal(worker: Worker, callId: string, name: SignalName, isOver: () => boolean): Promise<void> {
    for (;;) {
      if (isOver()) return;
      const script = `lb_signal ${worker.pid} ${callId} ${name.slice(3)}; ${report('"$lb_n"')}`;
      const [count] = await this.#inKiller(script).catch(() => ['1']); // lost with the sandbox: nothing is left to hear it
      if (count !== '0') return;
      await new Promise((resolve) => setTimeout(resolve, SIGNAL_RETRY_MS));
    }
  }

  #inKiller(script: string): Promise<readonly string[]> {
    const done = this.#killing.then(async () => {
      const killer = await this.#freshKiller();
      return (await killer.run(script, () => {})).reports;
    });
    this.#killing = done.catch(() => {}); // reported to this caller alone
    return done;
  }

  async #freshKiller(): Promise<Worker> {
    const kept = await this.#killer?.catch(() => undefined);
    if (kept?.isAlive) return kept;
    this.#killer = this.#start();
    return await this.#killer;
  }

  #assertUsable(): void {
    if (this.#isDisposed)
      throw new LitterboxError('DISPOSED', 'The exec channel was closed.', { operation: 'channel.run' });
  }
}

/** Passes on the last output of a command whose output another process still holds. Resolves with whether one goes on holding it. */
async function staysHeld(worker: Worker, onOutput: (chunk: OutputChunk) => unknown): Promise<boolean> {
  for (const waitMs of LAST_OUTPUT_WAITS_MS) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    const end = await worker.run('lb_before=', onOutput).catch(() => undefined); // lost: it is found out by who uses it next
    if (!end?.isHeld) return false;
  }
  worker.hush();
  return true;
}

/** What limits did between two counts. */
export function hitLimits(
  before: LimitCounts,
  after: LimitCounts,
): Pick<CommandOutcome, 'killedForMemory' | 'refusedProcesses'> {
  const killed = after.killed - before.killed;
  const refused = after.refused - before.refused;
  return { ...(killed > 0 && { killedForMemory: killed }), ...(refused > 0 && { refusedProcesses: refused }) };
}

function assertRunnable({ argv, cwd, env = {} }: ChannelCommand): void {
  const texts = [...argv, cwd ?? '', ...Object.entries(env).flat()];
  if (texts.some((text) => text.includes('\0'))) {
    throw new LitterboxError('COMMAND_NUL', 'The command holds a NUL character.', {
      operation: 'channel.run',
      hint: 'No argument of a program can hold one; pass such bytes on stdin.',
    });
  }
  if (
    texts.some(
      (text) =>
        text.length >= MAX_ARGUMENT_BYTES ||
        (text.length * 3 >= MAX_ARGUMENT_BYTES && new TextEncoder().encode(text).length >= MAX_ARGUMENT_BYTES),
    )
  ) {
    throw new LitterboxError(
      'COMMAND_TOO_LONG',
      `One argument is longer than ${MAX_ARGUMENT_BYTES - 1} bytes, Linux's limit.`,
      { operation: 'channel.run', hint: 'Write it to a file in the sandbox, or pass it on stdin.' },
    );
  }
}

/** The part of a {@link ChannelCommand} that says what is run. A text goes to the shell that the sandbox has. */
export function whatToRun(command: Command): Pick<ChannelCommand, 'argv' | 'script'> {
  return typeof command === 'string' ? { argv: [command], script: RUN_TEXT } : { argv: command };
}

/** One subshell per command: what it changes of its environment, directory and descriptors ends with it. */
function scriptOf(command: ChannelCommand, callId: string): string {
  const { argv, script, cwd, env = {}, stdin, stdinFile, isMerged, onEntered } = command;
  const steps = [`export ${CALL_VARIABLE}=${callId}`];
  if (stdinFile !== undefined) steps.push(`rm -f -- ${quoted(stdinFile)}`);
  for (const [name, value] of Object.entries(env)) steps.push(`export ${name}=${quoted(value)}`);
  if (cwd !== undefined) steps.push(`cd ${quoted(cwd)} || { ${report('no-cwd')}; exit 1; }`);
  if (onEntered) steps.push(report(ENTERED));
  const words = argv.map(quoted).join(' ');
  const errors = isMerged === true ? '2>&1' : '2>&8';
  if (script === undefined) steps.push(`exec ${words} ${errors} 8>&-`);
  else steps.push(`exec ${errors} 8>&-`, `set -- ${words}`, script);
  const source = stdin === undefined || stdin.length === 0 ? '' : `printf ${quoted(printfFormat(stdin))} | `;
  return `${source}( ${steps.join('\n')} )${source === '' ? ` <${quoted(stdinFile ?? '/dev/null')}` : ''}`;
}
