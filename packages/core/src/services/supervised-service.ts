import type { ServicePolicy } from '../domain/sandbox/policy.ts';
import { visible } from '../domain/text/visible.ts';
import type { ExitStatus } from '../domain/processes/exit-status.ts';
import type { KeptService, ServiceSetting, ServiceStatus } from './kept-service.ts';
import { killMarked } from './kill-marked.ts';
import { ServiceCondition } from './service-condition.ts';
import { survival, SURVIVAL_MS, watchHealth } from './service-health.ts';
import { ServiceLog } from './service-log.ts';
import type { Supervisor } from './supervisors.ts';
import { wholeSeconds } from './whole-seconds.ts';

/** What a service needs of its supervisor. */
export interface Supervision {
  readonly supervisor: Supervisor;
  /** @throws LitterboxError `UNAVAILABLE` when the supervisor does not come up; the next call tries anew. */
  ready(): Promise<void>;
  /** Runs one of the supervisor's verbs, or a script of the same kind. False when it failed. */
  tell(script: string, service: string, waitSeconds?: number): Promise<boolean>;
  /** Nothing is looked at any more. What runs inside goes with the keeper's own end of the sandbox. */
  release(): void;
}

/** What a supervisor said of a service. */
interface Sight {
  readonly word: string;
  readonly pid: string;
  readonly exit: ExitStatus | undefined;
  /** When it was asked; what was told to it after that it could not know. */
  readonly askedMs: number;
}

/** One service, as its supervisor tells of it. */
export class SupervisedService implements KeptService {
  readonly policy: ServicePolicy;
  readonly log = new ServiceLog();
  /** In the environment of what it started, see {@link CALL_VARIABLE}. */
  readonly mark = crypto.randomUUID();
  readonly #setting: ServiceSetting;
  readonly #supervision: Supervision;
  readonly #condition: ServiceCondition;
  #isWanted = false;
  /** When its supervisor was last told something about it. */
  #toldMs = 0;
  #lastPid: string | undefined;
  #run: { readonly over: AbortController; readonly seenMs: number } | undefined;

  constructor(policy: ServicePolicy, setting: ServiceSetting, supervision: Supervision) {
    this.policy = policy;
    this.#setting = setting;
    this.#supervision = supervision;
    this.#condition = new ServiceCondition(policy.name, setting.clock);
  }

  get isAwaited(): boolean {
    return this.#condition.isAwaited;
  }

  status(): ServiceStatus {
    return this.#condition.status();
  }

  async start(): Promise<void> {
    await this.#condition.inTurn(async () => {
      if (this.#isWanted && (this.#run || this.#condition.state === 'waiting' || this.#condition.state === 'starting'))
        return;
      this.#condition.restarts = 0;
      this.#condition.exit = undefined;
      this.#lastPid = undefined;
      await this.#up();
    });
    await this.#condition.settled();
  }

  async stop(): Promise<void> {
    await this.#condition.inTurn(async () => {
      this.#end();
      this.#isWanted = false;
      const { stopTimeoutMs, name } = this.policy;
      if (this.#condition.state !== 'stopped') {
        this.#condition.enter('stopping');
        await this.#supervision.tell(this.#supervision.supervisor.down, name, wholeSeconds(stopTimeoutMs));
        await killMarked(this.#setting.channel, this.mark).catch(() => {});
      }
      this.#toldMs = this.#setting.clock.monotonicMs();
      this.#condition.note = undefined;
      this.#condition.enter('stopped');
    });
  }

  async restart(): Promise<void> {
    const { signals, name } = this.policy;
    const run = this.#run;
    if (signals.restart === undefined || !run) {
      await this.stop();
      return await this.start();
    }
    this.log.note(`sending ${signals.restart}`);
    const signal = signals.restart.slice(3);
    await this.#supervision.tell(`read -r lb_p <"$D/$1.pid" && kill -s ${signal} "$lb_p"`, name);
    await survival(this.#setting, run.over.signal);
    await this.#condition.settled();
  }

  release(): void {
    this.#end();
    this.#supervision.release();
  }

  /** The supervisor that looked after it is gone. */
  lost(note: string): void {
    this.#end();
    if (!this.#isWanted) return;
    this.log.note(note);
    this.#condition.note = note;
    this.#condition.enter('waiting');
  }

  /** Another supervisor is there. */
  async revive(): Promise<void> {
    if (!this.#isWanted || this.#condition.state === 'exited' || this.#condition.state === 'failed') return;
    this.#condition.restarts += 1;
    await this.#condition.inTurn(() => this.#up());
  }

  seen({ word, pid, exit, askedMs }: Sight): void {
    if (!this.#isWanted || askedMs < this.#toldMs || this.#condition.state === 'stopping') return;
    // Between its start and the first line of what starts it, no number stands there.
    const isNew = /^[1-9]\d{0,9}$/.test(pid) && pid !== this.#lastPid;
    if (isNew) {
      if (this.#lastPid !== undefined) this.#condition.restarts += 1;
      this.#lastPid = pid;
    }
    if (exit) this.#condition.exit = exit;
    const ended = exit ? `ended with ${exit.signal ?? `exit code ${exit.code}`}` : 'ended';
    if (word === 'up') {
      if (!isNew && this.#run) {
        const isSettled = !this.policy.health && askedMs - this.#run.seenMs >= SURVIVAL_MS;
        if (isSettled && this.#condition.state === 'starting') this.#condition.enter('running');
        return;
      }
      if (this.#run) this.log.note(`${ended}, and was started again`);
      return this.#watch();
    }
    if (word !== 'waiting' && word !== 'down' && word !== 'failed') return;
    const isFailure = exit ? exit.code !== 0 : word === 'failed';
    const state = word === 'waiting' ? 'waiting' : isFailure ? 'failed' : 'exited';
    if (this.#run || isNew) this.log.note(ended);
    this.#end();
    if (state === this.#condition.state) return;
    this.#condition.note = state === 'waiting' ? 'Its supervisor starts it again.' : undefined;
    this.#condition.enter(state);
  }

  #watch(): void {
    this.#end();
    const over = new AbortController();
    this.#run = { over, seenMs: this.#setting.clock.monotonicMs() };
    this.#condition.note = undefined;
    if (this.#condition.state !== 'starting') this.#condition.enter('starting');
    if (!this.policy.health) return; // another look tells whether it is still there
    void watchHealth(this.policy, this.#setting, over.signal, (state, note) => {
      this.#condition.note = note;
      this.#condition.enter(state);
    });
  }

  async #up(): Promise<void> {
    const { clock } = this.#setting;
    this.#condition.note = undefined;
    this.#condition.enter('starting');
    try {
      await this.#supervision.ready();
      await this.#supervision.tell(
        `rm -f "$D/$1.last" "$D/$1.pid"; ${this.#supervision.supervisor.up}`,
        this.policy.name,
      );
      this.#isWanted = true;
      this.#toldMs = clock.monotonicMs();
    } catch (error) {
      const reason = visible(error instanceof Error ? error.message : String(error));
      this.log.note(`could not be started: ${reason}`);
      this.#condition.note = reason;
      this.#condition.enter('failed');
    }
  }

  /** What is known of the present run is over. */
  #end(): void {
    this.#run?.over.abort();
    this.#run = undefined;
  }
}
