import { CALL_VARIABLE } from '../channel/kill-tree.ts';
import type { ServicePolicy } from '../domain/sandbox/policy.ts';
import { visible } from '../domain/text/visible.ts';
import type { ExitStatus } from '../domain/processes/exit-status.ts';
import type { SignalName } from '../domain/processes/signal-name.ts';
import type { ProcessHandle } from '../ports/common/process.ts';
import type { KeptService, ServiceSetting, ServiceStatus } from './kept-service.ts';
import { countMarked, killMarked } from './kill-marked.ts';
import { redactedProcess } from '../channel/redacted-process.ts';
import { readIntoLog } from './read-into-log.ts';
import { ServiceCondition } from './service-condition.ts';
import { survival, watchHealth } from './service-health.ts';
import { ServiceLog } from './service-log.ts';

const FIRST_BACK_OFF_MS = 500;
const MAX_BACK_OFF_MS = 60_000;
/** Who ran so long has started well: the next failure is a first one. */
const SETTLED_MS = 30_000;
/** What a service printed last may arrive after the word that it has ended. Longer waits only for what it left behind. */
const LAST_WORDS_MS = 1_000;
interface Run {
  readonly handle: ProcessHandle;
  readonly callId: string;
  readonly startedMs: number;
  readonly ended: AbortController;
  readonly exit: Promise<ExitStatus | undefined>;
  /** Resolves when all that it prints is in the log. */
  readonly isRead: Promise<void>;
}

/** Runs a service, looks at it, starts it again: from outside, by the runtime's own means. */
export class Service implements KeptService {
  readonly policy: ServicePolicy;
  readonly log = new ServiceLog();
  readonly #setting: ServiceSetting;
  readonly #condition: ServiceCondition;
  #run: Run | undefined;
  #failures = 0;
  /** Aborted when what is going on (a wait, a watch) is to end. */
  #plan = new AbortController();

  constructor(policy: ServicePolicy, setting: ServiceSetting) {
    this.policy = policy;
    this.#setting = setting;
    this.#condition = new ServiceCondition(policy.name, setting.clock);
  }

  status(): ServiceStatus {
    return this.#condition.status();
  }

  async start(): Promise<void> {
    await this.#condition.inTurn(async () => {
      if (this.#run) return;
      this.#condition.restarts = 0;
      this.#failures = 0;
      await this.#begin();
    });
    await this.#condition.settled();
  }

  async stop(): Promise<void> {
    this.#plan.abort();
    await this.#condition.inTurn(async () => {
      await this.#end();
      this.#condition.enter('stopped');
      this.#condition.note = undefined;
    });
  }

  async restart(): Promise<void> {
    const { restart } = this.policy.signals;
    const run = this.#run;
    if (restart !== undefined && run) {
      await this.#condition.inTurn(async () => {
        this.log.note(`sending ${restart}`);
        await run.handle.kill(restart as SignalName);
      });
      await survival(this.#setting, run.ended.signal);
      return await this.#condition.settled();
    }
    await this.stop();
    await this.start();
  }

  release(): void {
    this.#plan.abort();
  }

  async #begin(): Promise<void> {
    const { runtime, clock } = this.#setting;
    const { command, name } = this.policy;
    this.#plan.abort();
    this.#plan = new AbortController();
    this.#condition.note = undefined;
    this.#condition.exit = undefined;
    const callId = crypto.randomUUID();
    this.#condition.enter('starting');
    let handle: ProcessHandle;
    try {
      handle = await runtime.spawn({
        argv: command,
        env: {
          ...runtime.environment,
          ...this.#setting.variables(),
          LITTERBOX_SERVICE: name,
          [CALL_VARIABLE]: callId,
        },
      });
    } catch (error) {
      // No such program, or no room for one.
      this.log.note(`could not be started: ${visible(error instanceof Error ? error.message : String(error))}`);
      this.#condition.note = visible(error instanceof Error ? error.message : String(error));
      return this.#failed(true);
    }
    const ended = new AbortController();
    const run: Run = {
      handle,
      callId,
      startedMs: clock.monotonicMs(),
      ended,
      exit: handle.exit.catch(() => undefined),
      isRead: readIntoLog(redactedProcess(handle, this.#setting.secrets), this.log, clock),
    };
    this.#run = run;
    void run.exit.then((exit) => {
      ended.abort();
      return this.#condition.inTurn(() => this.#left(run, exit));
    });
    const over = AbortSignal.any([this.#plan.signal, ended.signal]);
    void watchHealth(this.policy, this.#setting, over, (state, note) => {
      if (this.#run !== run || this.#condition.state === state) return;
      this.#condition.note = note;
      this.#condition.enter(state);
    });
  }

  /** A run ended by itself, or was lost with the session of the sandbox. */
  async #left(run: Run, exit: ExitStatus | undefined): Promise<void> {
    if (this.#run !== run) return; // stopped: not by itself
    this.#run = undefined;
    this.#condition.exit = exit;
    this.log.note(exit ? `ended with ${exitText(exit)}` : 'lost: the sandbox ended it');
    if (this.#setting.clock.monotonicMs() - run.startedMs >= SETTLED_MS) this.#failures = 0;
    const left = await countMarked(this.#setting.channel, run.callId).catch(() => 0);
    const isFailure = exit?.code !== 0;
    if (left > 0 && !isFailure && this.policy.restart !== 'always') {
      this.#condition.note = `It left ${left === 1 ? 'a process' : `${left} processes`} in the background: give it the option to stay in the foreground, so that Litterbox can look after it.`;
      this.#leftBehind = run.callId;
      return this.#condition.enter('exited');
    }
    if (left > 0) await killMarked(this.#setting.channel, run.callId).catch(() => {});
    if (isFailure || this.policy.restart === 'always') return this.#failed(isFailure);
    this.#condition.enter('exited');
  }

  /** The mark of what a run that ended left in the background. */
  #leftBehind: string | undefined;

  #failed(isFailure: boolean): void {
    if (this.policy.restart === 'never') return this.#condition.enter(isFailure ? 'failed' : 'exited');
    const waitMs = Math.min(MAX_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    this.#condition.note ??= `It starts again ${waitMs < 2000 ? 'at once' : `after ${Math.round(waitMs / 1000)} s`}.`;
    this.#condition.enter('waiting');
    const { signal } = this.#plan;
    void (async () => {
      await this.#setting.clock.sleep(waitMs, { signal });
      while (!(await this.#setting.isAwake())) await this.#setting.clock.sleep(1000, { signal });
      await this.#condition.inTurn(async () => {
        if (signal.aborted || this.#run) return;
        this.#condition.restarts += 1;
        await this.#begin();
      });
    })().catch(() => {}); // stopped meanwhile
  }

  async #end(): Promise<void> {
    const run = this.#run;
    const { channel, clock } = this.#setting;
    const behind = run?.callId ?? this.#leftBehind;
    this.#leftBehind = undefined;
    if (run) {
      this.#condition.enter('stopping');
      this.#run = undefined;
      const { signals, stopTimeoutMs } = this.policy;
      this.log.note(`stopping with ${signals.stop}`);
      await run.handle.kill(signals.stop as SignalName).catch(() => {});
      const timer = new AbortController();
      const late = clock.sleep(stopTimeoutMs, { signal: AbortSignal.any([timer.signal, run.ended.signal]) });
      await late.catch(() => {});
      timer.abort();
      if (run.ended.signal.aborted) await this.#lastWords(run);
      else this.log.note(`it did not end within ${stopTimeoutMs} ms: killing it`);
      await run.handle[Symbol.asyncDispose]();
      this.#condition.exit = await run.exit;
    }
    if (behind !== undefined) await killMarked(channel, behind).catch(() => {});
  }

  async #lastWords(run: Run): Promise<void> {
    const timer = new AbortController();
    const late = this.#setting.clock.sleep(LAST_WORDS_MS, timer).catch(() => {});
    await Promise.race([run.isRead, late]);
    timer.abort();
  }
}

function exitText({ code, signal }: ExitStatus): string {
  return signal === undefined ? `exit code ${code}` : signal;
}
