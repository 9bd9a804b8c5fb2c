import { exitStatusOf } from '../channel/command-outcome.ts';
import { CALL_VARIABLE } from '../channel/kill-tree.ts';
import { printfFormat, quoted } from '../channel/shell-text.ts';
import { LitterboxError } from '../domain/errors/errors.ts';
import type { ServicePolicy, SupervisorName } from '../domain/sandbox/policy.ts';
import { decodeRaw, encodeRaw } from '../domain/text/raw-text.ts';
import { visible } from '../domain/text/visible.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { ExitStatus } from '../domain/processes/exit-status.ts';
import type { ProcessHandle } from '../ports/common/process.ts';
import type { KeptService, ServiceSetting } from './kept-service.ts';
import { killServices } from './kill-marked.ts';
import { redactedProcess } from '../channel/redacted-process.ts';
import { readIntoLog } from './read-into-log.ts';
import { SupervisedService, type Supervision } from './supervised-service.ts';
import { runFile, type Supervisor, SUPERVISORS } from './supervisors.ts';

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
export class SupervisedServices implements Supervision {
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
    this.#running ??= this.#run(FIRST_BACK_OFF_MS).catch(async (error: unknown) => {
      await killServices(this.#setting.channel).catch(() => {}); // what reads the logs, and what it started
      this.#running = undefined; // the next who asks tries anew
      throw error;
    });
    await this.#running;
  }

  /** Runs one of the supervisor's verbs, or a script of the same kind. False when it failed. */
  async tell(script: string, service: string, waitSeconds = 0, options?: CallOptions): Promise<boolean> {
    const { exit, interruption } = await this.#ask(script, [service, String(waitSeconds)], waitSeconds, options);
    return exit.code === 0 && !interruption;
  }

  get supervisor(): Supervisor {
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
      for (const service of this.#all.values()) service.lost(`${this.#name} ended and is starting again.`);
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
      void readIntoLog(redactedProcess(reader, this.#setting.secrets), log, clock);
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
            hint: 'Remove container.supervisor: Litterbox then looks after services itself.',
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

/** One line of a script that writes a file. */
function put(path: string, text: string, isExecutable: boolean): string {
  const write = `printf ${quoted(printfFormat(encodeRaw(text)))} >${path} || exit 1`;
  return isExecutable ? `${write}\nchmod +x ${path}` : write;
}

/** What a `finish` script noted: an exit code and a signal's number, the code out of range when the signal counts. */
function exitOf(codeText: string, signalText: string): ExitStatus | undefined {
  if (!/^-?\d{1,3}$/.test(codeText) || !/^\d{1,3}$/.test(signalText)) return undefined;
  const code = Number(codeText);
  return exitStatusOf(code >= 0 && code <= 255 ? code : 128 + Number(signalText));
}

/** A signal that aborts when something is over. */
function aborted(over: Promise<unknown>): AbortSignal {
  const controller = new AbortController();
  void over.then(() => controller.abort());
  return controller.signal;
}
