import { CALL_VARIABLE } from '../channel/kill-tree.ts';
import { printfFormat, quoted } from '../channel/shell-text.ts';
import { LitterboxError } from '../domain/errors.ts';
import type { ServicePolicy, SupervisorName } from '../domain/policy.ts';
import { decodeRaw, encodeRaw } from '../domain/raw-text.ts';
import { visible } from '../domain/visible.ts';
import type { CallOptions } from '../ports/call.ts';
import type { ExitStatus, ProcessHandle } from '../ports/process.ts';
import type { KeptService, ServiceSetting, ServiceState, ServiceStatus } from './kept-service.ts';
import { killMarked, killServices } from './kill-marked.ts';
import { readIntoLog } from './read-into-log.ts';
import { survival, SURVIVAL_MS, watchHealth } from './service-health.ts';
import { ServiceLog } from './service-log.ts';
import { runFile, SUPERVISORS } from './supervisors.ts';

/** Between two looks at what the supervisor says. */
const LOOK_MS = 1_000;
/** While somebody waits for a service to come up. */
const BUSY_LOOK_MS = 100;
const READY_MS = 20_000;
const TELL_MS = 30_000;
const FIRST_BACK_OFF_MS = 1_000;
const MAX_BACK_OFF_MS = 60_000;

/**
 * Services that a supervisor of the image looks after: it is run in the sandbox with a directory made for it, told what to start and
 * to stop, and asked how they are. It starts again what ended, at its own pace. Agents can use its own commands as well, and break it:
 * what it says is as hostile as all else inside, and when it ends another one is started.
 */
export class SupervisedServices {
  readonly services: ReadonlyMap<string, KeptService>;
  readonly #name: SupervisorName;
  readonly #setting: ServiceSetting;
  readonly #directory: string;
  readonly #all: ReadonlyMap<string, SupervisedService>;
  readonly #over = new AbortController();
  #running: Promise<void> | undefined;

  constructor(name: SupervisorName, policies: readonly ServicePolicy[], setting: ServiceSetting) {
    this.#name = name;
    this.#setting = setting;
    this.#directory = `${setting.runtime.environment['HOME'] ?? '/tmp'}/.litterbox-services`;
    this.#all = new Map(policies.map((policy) => [policy.name, new SupervisedService(policy, setting, this)]));
    this.services = this.#all;
  }

  /** @throws LitterboxError `UNAVAILABLE` when the supervisor does not come up. */
  async ready(): Promise<void> {
    this.#running ??= this.#run(FIRST_BACK_OFF_MS);
    await this.#running;
  }

  /** Runs one of the supervisor's verbs, or a script of the same kind. False when it failed. */
  async tell(script: string, service: string, waitSeconds = 0, options?: CallOptions): Promise<boolean> {
    const { exit, interruption } = await this.#ask(script, [service, String(waitSeconds)], waitSeconds, options);
    return exit.code === 0 && !interruption;
  }

  get supervisor() {
    return SUPERVISORS[this.#name];
  }

  /** Nothing is looked at any more. What runs inside goes with the keeper's own end of the sandbox. */
  release(): void {
    this.#over.abort();
  }

  /** Starts the supervisor, and another one whenever it ends. Rejects when the first does not come up. */
  async #run(backOffMs: number): Promise<void> {
    const { clock } = this.#setting;
    const { handle, ended } = await this.#start();
    void ended.then(async () => {
      if (this.#over.signal.aborted) return;
      for (const service of this.#all.values()) service.lost(`${this.#name} ended, and is started again.`);
      await Promise.allSettled([handle[Symbol.asyncDispose]()]);
      for (let pauseMs = backOffMs; !this.#over.signal.aborted; pauseMs = Math.min(MAX_BACK_OFF_MS, pauseMs * 2)) {
        try {
          await clock.sleep(pauseMs, { signal: this.#over.signal });
          if (!(await this.#setting.isAwake())) continue;
          await killServices(this.#setting.channel);
          this.#running = this.#run(Math.min(MAX_BACK_OFF_MS, backOffMs * 2));
          await this.#running;
          for (const service of this.#all.values()) await service.revive();
          return;
        } catch {
          // The next attempt tells; the services say meanwhile that it is being started.
        }
      }
    });
  }

  async #start(): Promise<{ readonly handle: ProcessHandle; readonly ended: Promise<void> }> {
    const { clock } = this.#setting;
    await this.#write();
    const readers = [...this.#all.values()].map(async ({ policy, log }) => {
      // Opened for both, so that it never ends by itself.
      const reader = await this.#spawn(`exec cat <>"$D/${policy.name}.log"`, policy.name);
      void readIntoLog(reader, log, clock);
      return reader;
    });
    const opened = await Promise.all(readers);
    const handle = await this.#spawn(this.supervisor.run, this.#name);
    let said = '';
    void (async () => {
      for await (const { bytes } of handle) if (said.length < 2000) said += decodeRaw(bytes);
    })().catch(() => {});
    let isOver = false;
    const ended = (async () => {
      await handle.exit.catch(() => undefined); // what it started may live on, and hold its output open
      isOver = true;
      await Promise.allSettled(opened.map((reader) => reader[Symbol.asyncDispose]()));
    })();
    const deadlineMs = clock.monotonicMs() + READY_MS;
    const [first] = this.#all.keys();
    while (!(await this.tell(this.supervisor.isReady, first ?? ''))) {
      if (isOver || clock.monotonicMs() > deadlineMs) {
        await handle[Symbol.asyncDispose]();
        throw new LitterboxError(
          'UNAVAILABLE',
          `${this.#name} ${isOver ? 'ended' : 'did not answer'}: ${visible(said.trim().slice(0, 500)) || 'it said nothing'}.`,
          {
            operation: 'sandbox.service',
            hint: 'Remove container.supervisor: Litterbox then looks after services by itself.',
          },
        );
      }
      await clock.sleep(BUSY_LOOK_MS, { signal: this.#over.signal });
    }
    void this.#look(AbortSignal.any([this.#over.signal, aborted(ended)]));
    return { handle, ended };
  }

  async #spawn(script: string, service: string): Promise<ProcessHandle> {
    const { runtime, variables } = this.#setting;
    return await runtime.spawn({
      argv: ['sh', '-c', `D=${quoted(this.#directory)}\n${script}`],
      env: {
        ...runtime.environment,
        ...variables(),
        LITTERBOX_SERVICE: service,
        [CALL_VARIABLE]: crypto.randomUUID(),
      },
    });
  }

  /** All files anew: what an agent made of the old ones does not count. */
  async #write(): Promise<void> {
    const policies = [...this.#all.values()].map(({ policy }) => policy);
    const at = (path: string) => quoted(`${this.#directory}/${path}`);
    const script = [
      `umask 077`,
      `rm -rf ${quoted(this.#directory)}`,
      `mkdir -p ${policies.map(({ name }) => at(`services/${name}/control`)).join(' ')} || exit 1`,
      ...[...this.#all.values()].map(({ policy: { name, command }, mark }) =>
        put(
          at(runFile(name)),
          `#!/bin/sh
echo $$ >${at(`${name}.pid`)}
exec >${at(`${name}.log`)} 2>&1
cd ${quoted(this.#setting.runtime.workdir)} || exit 1
LITTERBOX_SERVICE=${name} ${CALL_VARIABLE}=${mark}
export LITTERBOX_SERVICE ${CALL_VARIABLE}
exec ${command.map(quoted).join(' ')}
`,
          true,
        ),
      ),
      ...policies.map(({ name }) => `mkfifo ${at(`${name}.log`)} || exit 1`),
      ...this.supervisor
        .files(this.#directory, policies)
        .map(({ path, text, isExecutable }) => put(at(path), text, isExecutable)),
      ':',
    ].join('\n');
    await using writer = await this.#setting.runtime.spawn({ argv: ['sh', '-s'], stdin: 'pipe' });
    const listening = (async () => {
      for await (const _chunk of writer); // nothing of interest is said
    })();
    await writer.write(encodeRaw(script));
    await writer.closeStdin();
    await listening;
    if ((await writer.exit).code === 0) return;
    throw new LitterboxError('UNAVAILABLE', `The files of ${this.#name} cannot be written in the sandbox.`, {
      operation: 'sandbox.service',
      hint: `Look at ${this.#directory} inside; there may be no room.`,
    });
  }

  /** Asks how all are, again and again, until this supervisor is over. */
  async #look(over: AbortSignal): Promise<void> {
    const { clock } = this.#setting;
    const names = [...this.#all.keys()];
    const script = `{ ${this.supervisor.look}
} 2>/dev/null | while read -r lb_n lb_w; do
lb_i=; read -r lb_i <"$D/$lb_n.pid"; lb_l=; read -r lb_l <"$D/$lb_n.last"
echo "$lb_n $lb_w \${lb_i:-0} \${lb_l:-- -}"
done 2>/dev/null`;
    while (!over.aborted) {
      try {
        if (await this.#setting.isAwake()) {
          const askedMs = clock.monotonicMs();
          const { stdout, exit } = await this.#ask(script, names, 0, { signal: over });
          if (exit.code === 0)
            for (const line of decodeRaw(stdout.bytes).split('\n')) {
              const [name = '', word = '', pid = '', code = '', signal = ''] = line.split(' ');
              this.#all.get(name)?.seen({ word, pid, exit: exitOf(code, signal), askedMs });
            }
        }
      } catch {
        // The sandbox is busy, or its session ended: its end tells the supervisor's end.
      }
      const isBusy = [...this.#all.values()].some(({ isAwaited }) => isAwaited);
      await clock.sleep(isBusy ? BUSY_LOOK_MS : LOOK_MS, { signal: over }).catch(() => {});
    }
  }

  #ask(script: string, words: readonly string[], waitSeconds: number, options?: CallOptions) {
    const { channel, runtime } = this.#setting;
    return channel.run(
      {
        script: `D=${quoted(this.#directory)}\n${script}`,
        argv: words as [string, ...string[]],
        cwd: runtime.workdir,
        timeoutMs: TELL_MS + waitSeconds * 1000,
        maxOutputBytes: 64 * 1024,
      },
      options,
    );
  }
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
class SupervisedService implements KeptService {
  readonly policy: ServicePolicy;
  readonly log = new ServiceLog();
  /** In the environment of what it started, see {@link CALL_VARIABLE}. */
  readonly mark = crypto.randomUUID();
  readonly #setting: ServiceSetting;
  readonly #supervision: SupervisedServices;
  #state: ServiceState = 'stopped';
  #sinceMs: number;
  #restarts = 0;
  #exit: ExitStatus | undefined;
  #note: string | undefined;
  #isWanted = false;
  /** When its supervisor was last told something about it. */
  #toldMs = 0;
  #lastPid: string | undefined;
  #run: { readonly over: AbortController; readonly seenMs: number } | undefined;
  #changed = new Set<() => void>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(policy: ServicePolicy, setting: ServiceSetting, supervision: SupervisedServices) {
    this.policy = policy;
    this.#setting = setting;
    this.#supervision = supervision;
    this.#sinceMs = setting.clock.wallMs();
  }

  get isAwaited(): boolean {
    return this.#changed.size > 0;
  }

  status(): ServiceStatus {
    return {
      name: this.policy.name,
      state: this.#state,
      sinceMs: this.#sinceMs,
      restarts: this.#restarts,
      ...(this.#exit && { exit: this.#exit }),
      ...(this.#note !== undefined && { note: this.#note }),
    };
  }

  async start(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#isWanted && (this.#run || this.#state === 'waiting' || this.#state === 'starting')) return;
      this.#restarts = 0;
      this.#exit = undefined;
      this.#lastPid = undefined;
      await this.#up();
    });
    await this.#settled();
  }

  async stop(): Promise<void> {
    await this.#inTurn(async () => {
      this.#end();
      this.#isWanted = false;
      const { stopTimeoutMs, name } = this.policy;
      if (this.#state !== 'stopped') {
        this.#enter('stopping');
        await this.#supervision.tell(
          this.#supervision.supervisor.down,
          name,
          Math.max(1, Math.ceil(stopTimeoutMs / 1000)),
        );
        await killMarked(this.#setting.channel, this.mark).catch(() => {});
      }
      this.#toldMs = this.#setting.clock.monotonicMs();
      this.#note = undefined;
      this.#enter('stopped');
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
    await this.#settled();
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
    this.#note = note;
    this.#enter('waiting');
  }

  /** Another supervisor is there. */
  async revive(): Promise<void> {
    if (!this.#isWanted || this.#state === 'exited' || this.#state === 'failed') return;
    this.#restarts += 1;
    await this.#inTurn(() => this.#up());
  }

  seen({ word, pid, exit, askedMs }: Sight): void {
    if (!this.#isWanted || askedMs < this.#toldMs || this.#state === 'stopping') return;
    // Between its start and the first line of what starts it, no number stands there.
    const isNew = /^[1-9]\d{0,9}$/.test(pid) && pid !== this.#lastPid;
    if (isNew) {
      if (this.#lastPid !== undefined) this.#restarts += 1;
      this.#lastPid = pid;
    }
    if (exit) this.#exit = exit;
    const ended = exit ? `ended with ${exit.signal ?? `exit code ${exit.code}`}` : 'ended';
    if (word === 'up') {
      if (!isNew && this.#run) {
        const isSettled = !this.policy.health && askedMs - this.#run.seenMs >= SURVIVAL_MS;
        if (isSettled && this.#state === 'starting') this.#enter('running');
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
    if (state === this.#state) return;
    this.#note = state === 'waiting' ? 'Its supervisor starts it again.' : undefined;
    this.#enter(state);
  }

  #watch(): void {
    this.#end();
    const over = new AbortController();
    this.#run = { over, seenMs: this.#setting.clock.monotonicMs() };
    this.#note = undefined;
    if (this.#state !== 'starting') this.#enter('starting');
    if (!this.policy.health) return; // another look tells whether it is still there
    void watchHealth(this.policy, this.#setting, over.signal, (state, note) => {
      this.#note = note;
      this.#enter(state);
    });
  }

  async #up(): Promise<void> {
    const { clock } = this.#setting;
    this.#note = undefined;
    this.#enter('starting');
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
      this.#note = reason;
      this.#enter('failed');
    }
  }

  /** What is known of the present run is over. */
  #end(): void {
    this.#run?.over.abort();
    this.#run = undefined;
  }

  #inTurn<Result>(body: () => Promise<Result>): Promise<Result> {
    const mine = this.#turn.then(body);
    this.#turn = mine.catch(() => {}); // told to who asked
    return mine;
  }

  #enter(state: ServiceState): void {
    this.#state = state;
    this.#sinceMs = this.#setting.clock.wallMs();
    const waiting = this.#changed;
    this.#changed = new Set();
    for (const wake of waiting) wake();
  }

  async #settled(): Promise<void> {
    while (this.#state === 'starting' || this.#state === 'stopping')
      await new Promise<void>((resolve) => this.#changed.add(resolve));
  }
}

/** One line of a script that writes a file. */
function put(path: string, text: string, isExecutable: boolean): string {
  const write = `printf ${quoted(printfFormat(encodeRaw(text)))} >${path} || exit 1`;
  return isExecutable ? `${write}\nchmod +x ${path}` : write;
}

const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  6: 'SIGABRT',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  15: 'SIGTERM',
};

/** What a `finish` script noted: an exit code and a signal's number, the code out of range when the signal counts. */
function exitOf(codeText: string, signalText: string): ExitStatus | undefined {
  if (!/^-?\d{1,3}$/.test(codeText) || !/^\d{1,3}$/.test(signalText)) return undefined;
  const code = Number(codeText);
  const number = code >= 0 && code <= 255 ? code - 128 : Number(signalText);
  const signal = SIGNALS[number];
  if (code >= 0 && code <= 255) return { code, ...(signal !== undefined && { signal }) };
  return { code: 128 + number, ...(signal !== undefined && { signal }) };
}

/** A signal that aborts when something is over. */
function aborted(over: Promise<unknown>): AbortSignal {
  const controller = new AbortController();
  void over.then(() => controller.abort());
  return controller.signal;
}
