import { LitterboxError } from '../domain/errors/errors.ts';
import type { SignalName } from '../domain/processes/signal-name.ts';
import { shown } from '../domain/text/shown.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { ProcessHandle, ProcessSpec } from '../ports/common/process.ts';
import type { CallGuard } from './call-guard.ts';
import { assertRunnable, type ChannelCommand, type OutputListener, scriptOf } from './channel-command.ts';
import { CommandOutput } from './command-output.ts';
import { type CommandOutcome, exitStatusOf, hitLimits } from './command-outcome.ts';
import type { CommandShell } from './command-shell.ts';
import { type HeldSecrets, NO_SECRETS } from './held-secrets.ts';
import { KILL_FUNCTION, SIGNAL_FUNCTION } from './kill-tree.ts';
import { staysHeld } from './stays-held.ts';
import { untilAborted } from './until-aborted.ts';
import { type LimitCounts, report, type ScriptEnd, Worker } from './worker.ts';

/** The part of a runtime that the channel needs. */
export interface ChannelTarget {
  spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle>;
}

/** How long after a kill the shell may take to say so, before it is given up with its command. */
const KILL_GRACE_MS = 3_000;
/** Idle shells kept for the next command. */
const MAX_IDLE_WORKERS = 4;
/** A command that has just been asked for has its mark after its first exec; until then nothing would hear a signal. */
const SIGNAL_RETRY_MS = 20;

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
    const startedMs = performance.now();
    const output = new CommandOutput(command, this.#secrets);
    const worker = await this.#worker(options);
    const { end, interruption } = await this.#runIn(worker, command, output.keep, options);
    const ended = typeof end === 'object' ? end : undefined;
    const isHeld = ended?.isHeld === true && (await staysHeld(worker, output.keep));
    this.#giveBack(worker, isHeld, ended !== undefined);
    if (ended?.reports.includes('no-cwd')) throw noDirectory(command.cwd);
    const { stdout, stderr } = await output.end();
    return {
      exit: exitStatusOf(ended?.code ?? 137),
      stdout,
      stderr,
      durationMs: performance.now() - startedMs,
      ...(interruption && { interruption }),
      ...(ended && hitLimits(ended.before, ended.after)),
    };
  }

  /** Runs a command in one shell, and ends it at its time or at an abort. */
  async #runIn(
    worker: Worker,
    command: ChannelCommand,
    onOutput: OutputListener,
    options?: CallOptions,
  ): Promise<{ readonly end: ScriptEnd | 'given-up' | 'lost'; readonly interruption: CommandOutcome['interruption'] }> {
    const callId = crypto.randomUUID();
    let giveUp = () => {};
    const givenUp = new Promise<'given-up'>((resolve) => {
      giveUp = () => resolve('given-up');
    });
    let interruption: CommandOutcome['interruption'];
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
    let isOver = false;
    let end: ScriptEnd | 'given-up' | 'lost';
    try {
      const script = worker.run(scriptOf(command, callId), onOutput, command.onEntered).catch((error: unknown) => {
        if (error instanceof LitterboxError && error.code === 'CHANNEL_BROKEN') return 'lost' as const;
        throw error;
      });
      command.onStart?.({ signal: (name) => this.#signal(worker, callId, name, () => isOver) });
      end = await Promise.race([script, givenUp]);
    } finally {
      isOver = true;
      unwatch?.();
      clearTimeout(timer);
      clearTimeout(graceTimer);
      options?.signal?.removeEventListener('abort', onAbort);
    }
    await killing; // it ends what the shell runs: that must not be the next command by then
    if (end === 'lost') interruption ??= 'channel-lost';
    return { end, interruption };
  }

  /** Counts of how often limits struck since the sandbox was started, as far as the kernel tells it. For {@link hitLimits}. */
  async limitCounts(options?: CallOptions): Promise<LimitCounts> {
    const worker = await this.#worker(options);
    const end = await worker.ask(':');
    this.#giveBack(worker, end.isHeld);
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
    this.#idle = [];
    const all = [...this.#all, ...(this.#guard ? [this.#guard] : [])];
    await Promise.allSettled(all.map((one) => one[Symbol.asyncDispose]()));
    this.#all.clear();
  }

  /** Keeps a shell for the next command where it can run one. */
  #giveBack(worker: Worker, isHeld: boolean, isIntact = true): void {
    const isReusable = isIntact && !isHeld && !this.#isDisposed;
    if (isReusable && this.#idle.length < MAX_IDLE_WORKERS) this.#idle.push(worker);
    else void this.#retire(worker, isHeld);
  }

  async #worker(options?: CallOptions): Promise<Worker> {
    this.#assertUsable();
    for (let worker = this.#idle.pop(); worker; worker = this.#idle.pop()) {
      if (worker.isAlive) return worker;
      await this.#retire(worker, false);
    }
    const warmed = await this.#warmed(options);
    if (warmed?.isAlive) return warmed;
    return (await this.#reclaimed()) ?? (await this.#start(options));
  }

  /** The shell that is on its way, for this caller alone. A caller who gives up leaves it to the next. */
  async #warmed(options?: CallOptions): Promise<Worker | undefined> {
    const warming = this.#warming?.catch(() => undefined); // the caller starts one then, and hears why that fails
    this.#warming = undefined;
    if (!warming) return undefined;
    try {
      return await untilAborted(warming, options?.signal);
    } catch (error) {
      void warming.then((worker) => worker && this.#giveBack(worker, false));
      throw error;
    }
  }

  /** A retired shell whose background process has ended meanwhile. Looks at one: the next command looks at the next. */
  async #reclaimed(): Promise<Worker | undefined> {
    const [worker] = this.#retired;
    if (!worker) return undefined;
    this.#retired.delete(worker);
    const end = await worker.ask('lb_before=').catch(() => undefined);
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
    const worker = await Worker.start((spec, each) => this.#target.spawn(spec, each), KILL_FUNCTION + SIGNAL_FUNCTION, {
      ...call,
      signal: starting.signal,
    }).finally(() => call?.signal?.removeEventListener('abort', abort));
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
      return (await killer.ask(script)).reports;
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

function noDirectory(cwd = ''): LitterboxError {
  return new LitterboxError(
    'NOT_FOUND',
    `There is no directory ${shown(cwd)} in the sandbox, or its user may not enter it.`,
    { operation: 'channel.run', hint: 'Leave the directory out to start in the workspace.' },
  );
}
