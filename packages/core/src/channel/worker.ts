import { LitterboxError } from '../domain/errors/errors.ts';
import { isConnectionLost } from '../domain/errors/connection-lost.ts';
import type { CallOptions } from '../ports/common/call.ts';
import type { OutputChunk, ProcessHandle, ProcessSpec } from '../ports/common/process.ts';
import { MarkerSplitter } from './marker-splitter.ts';
import { type CommandShell, SHELL_DEFINITIONS } from './command-shell.ts';
import { scriptBytes } from './shell-text.ts';

/**
 * What every worker is told first. Descriptor 8 keeps the stderr that commands get; the shell's own talk goes nowhere.
 * `lb_held`: does any other process hold this worker's output open? Builtins only; a pipe is known by its inode. Who started the
 * worker may, and the first process of all: they are the runtime's own, and wait for it. It is asked only where there are other processes
 * than after the command before.
 * `lb_count`: how many processes the kernel has killed here because all together
 * had reached their limit of memory, and how many it has refused because they had reached their limit of processes, where a control group
 * of version 2 or 1 is there to tell it: before and after each command, because programs hide what became of those that they start. A shell
 * reads byte by byte, and no further than it has to.
 */
const PROLOGUE = `exec 8>&2 2>/dev/null
lb_held() {
for lb_f in /proc/[0-9]*/fd/*; do
case $lb_f in /proc/1/*|/proc/$$/*|/proc/$PPID/*) continue;; esac
if [ "$lb_f" -ef /proc/$$/fd/1 ] || [ "$lb_f" -ef /proc/$$/fd/8 ]; then return 0; fi
done
return 1
}
lb_ooms= lb_forks= lb_before=
for lb_f in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
if [ -r $lb_f ]; then lb_ooms=$lb_f; fi
done
for lb_f in /sys/fs/cgroup/pids.events /sys/fs/cgroup/pids/pids.events; do
if [ -r $lb_f ]; then lb_forks=$lb_f; fi
done
lb_count() {
lb_killed=0 lb_refused=0
[ -z "$lb_ooms" ] || while read -r lb_f lb_v; do if [ "$lb_f" = oom_kill ]; then lb_killed=$lb_v; break; fi; done <$lb_ooms
[ -z "$lb_forks" ] || while read -r lb_f lb_v; do if [ "$lb_f" = max ]; then lb_refused=$lb_v; break; fi; done <$lb_forks
}
lb_end() {
lb_code=$? lb_busy=0
lb_count
set -- /proc/[0-9]*
if [ "$*" != "$lb_before" ]; then
lb_before="$*"
if lb_held; then lb_busy=1; fi
fi
printf '\\036%s %s %s %s\\n' "$lb_nonce" $lb_code $lb_busy "$lb_had $lb_killed $lb_refused"
printf '\\036%s\\040\\n' "$lb_nonce" >&8
}
${SHELL_DEFINITIONS}`;

/** How long a script of ours may take: a moment. Programs inside can stop the shell, and then nothing would ever end. */
const MAX_ASK_MS = 30_000;

/** What limits have done in a sandbox since it was started. */
export interface LimitCounts {
  /** Processes that the kernel killed because all together had reached the limit of memory. */
  readonly killed: number;
  /** Processes that it did not start because there were as many as may be. */
  readonly refused: number;
}

/** How a script ended, as the worker's shell says. */
export interface ScriptEnd {
  readonly code: number;
  /** A process that the script left behind still holds the worker's output: the worker must not be used again. */
  readonly isHeld: boolean;
  /** What the kernel had counted before the script, and after it, as far as it tells the sandbox. */
  readonly before: LimitCounts;
  readonly after: LimitCounts;
  /** What else the script reported with {@link report}, in order. */
  readonly reports: readonly string[];
}

/** Shell text by which a script tells the host a word apart from its output. */
export const report = (word: string): string => `printf '\\036%s %s\\n' "$lb_nonce" ${word}`;

/** Reported by a command that has its directory. */
export const ENTERED = 'entered';

/** One long-lived `sh` inside the sandbox whose stdout and stderr are those of the command it runs. One script at a time. */
export class Worker implements AsyncDisposable {
  readonly #handle: ProcessHandle;
  readonly #pump: Promise<void>;
  #isAlive = true;
  /** Why the way to the shell is gone. Then nobody knows how a command ended, which is no outcome of it. */
  #loss: LitterboxError | undefined;
  #pid = 0;
  #shell: CommandShell = 'sh';
  #listening: Promise<unknown> | undefined;
  /** Hears what comes once a script has ended that left the output to another process. */
  #after: ((chunk: OutputChunk) => unknown) | undefined;
  #current: { stdout: MarkerSplitter; stderr: MarkerSplitter; lost: () => void } | undefined;

  private constructor(handle: ProcessHandle) {
    this.#handle = handle;
    this.#pump = this.#read();
  }

  /** Starts the shell with the given function definitions. */
  static async start(
    spawn: (spec: ProcessSpec, options?: CallOptions) => Promise<ProcessHandle>,
    definitions: string,
    options?: CallOptions,
  ): Promise<Worker> {
    const worker = new Worker(await spawn({ argv: ['sh', '-s'], stdin: 'pipe' }, options));
    try {
      await worker.#handle.write(scriptBytes(PROLOGUE + definitions));
      const { reports } = await worker.ask(`${report('$$')}\n${report('"$lb_shell"')}`);
      worker.#pid = Number(reports[0]);
      worker.#shell = reports[1] === 'bash' ? 'bash' : 'sh';
      return worker;
    } catch (error) {
      await worker[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The shell's process number inside the sandbox. */
  get pid(): number {
    return this.#pid;
  }

  /** What it runs commands with that are given as text. */
  get shell(): CommandShell {
    return this.#shell;
  }

  /** False once the shell has ended, by whatever hand. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  /**
   * Runs a script in the worker's own shell. Its commands must take their stdin from elsewhere and write to 1 and 8.
   *
   * @throws LitterboxError `CHANNEL_BROKEN` when the shell dies before the script ended; `UNAVAILABLE` when the way to it is lost.
   */
  async run(script: string, onOutput: (chunk: OutputChunk) => unknown, onEntered?: () => void): Promise<ScriptEnd> {
    const nonce = crypto.randomUUID().replaceAll('-', '');
    const reports: string[] = [];
    return await new Promise<ScriptEnd>((resolve, reject) => {
      let end: ScriptEnd | undefined;
      let streamsOpen = 2;
      const streamEnded = () => {
        streamsOpen -= 1;
        if (streamsOpen > 0 || !end) return;
        this.#current = undefined;
        if (end.isHeld) this.#after = onOutput;
        resolve(end);
      };
      const stdout = new MarkerSplitter(
        (bytes) => this.#told(onOutput({ type: 'stdout-data', bytes })),
        (status) => {
          const [, code, held, ...counts] =
            /^(\d{1,3}) ([01]) (\d{1,15}) (\d{1,15}) (\d{1,15}) (\d{1,15})$/.exec(status) ?? [];
          if (status === ENTERED) return onEntered?.();
          if (code === undefined) return void reports.push(status);
          const [killedBefore = 0, refusedBefore = 0, killed = 0, refused = 0] = counts.map(Number);
          end ??= {
            code: Number(code) & 0xff,
            isHeld: held === '1',
            before: { killed: killedBefore, refused: refusedBefore },
            after: { killed, refused },
            reports,
          };
          streamEnded();
        },
      );
      const stderr = new MarkerSplitter((bytes) => this.#told(onOutput({ type: 'stderr-data', bytes })), streamEnded);
      stdout.expect(nonce);
      stderr.expect(nonce);
      const lost = () => {
        this.#current = undefined;
        stdout.flush();
        stderr.flush();
        reject(
          this.#loss ??
            new LitterboxError('CHANNEL_BROKEN', 'The shell that ran the command was killed.', {
              operation: 'channel.run',
              hint: 'Run the command again; Litterbox starts a new shell.',
            }),
        );
      };
      this.#current = { stdout, stderr, lost };
      this.#after = undefined;
      if (!this.#isAlive) return lost();
      const framed = `lb_nonce=${nonce}; lb_count; lb_had="$lb_killed $lb_refused"\n${script}\nlb_end\n`;
      this.#handle.write(scriptBytes(framed)).catch(lost);
    });
  }

  /**
   * Runs a script of our own, which takes a moment. A shell that does not answer by then is given up.
   *
   * @throws LitterboxError as {@link run}
   */
  async ask(script: string, onOutput: (chunk: OutputChunk) => unknown = () => {}): Promise<ScriptEnd> {
    const late = setTimeout(() => void this[Symbol.asyncDispose](), MAX_ASK_MS);
    try {
      return await this.run(script, onOutput);
    } finally {
      clearTimeout(late);
    }
  }

  /** Output that comes from now on, and is no script's, goes nowhere. */
  hush(): void {
    this.#after = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isAlive = false;
    await this.#handle[Symbol.asyncDispose]();
    await this.#pump;
  }

  /** Whoever is told takes some time: nothing more is read meanwhile, and the program waits at its pipe. */
  #told(listening: unknown): void {
    if (listening instanceof Promise) this.#listening = Promise.all([this.#listening, listening]);
  }

  async #read(): Promise<void> {
    try {
      for await (const chunk of this.#handle) {
        if (!this.#current) this.#told(this.#after?.(chunk));
        else if (chunk.type === 'stdout-data') this.#current.stdout.push(chunk.bytes);
        else this.#current.stderr.push(chunk.bytes);
        if (this.#listening) {
          await this.#listening;
          this.#listening = undefined;
        }
      }
      await this.#handle.exit;
    } catch (error) {
      // Whatever ended the stream, the shell is of no more use; the caller learns it from `lost`.
      if (isConnectionLost(error)) this.#loss = error;
    }
    this.#isAlive = false;
    this.#current?.lost();
  }
}
