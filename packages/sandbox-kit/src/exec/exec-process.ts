import {
  CALL_VARIABLE,
  type CallOptions,
  type ExitStatus,
  isLitterboxError,
  exitStatusOf,
  isConnectionLost,
  LitterboxError,
  connectionLost,
  MarkerSplitter,
  type OutputChunk,
  type ProcessHandle,
  type ProcessSpec,
  type SignalName,
  shown,
  type TerminalSize,
} from '@litterbox/core/provider';
import type { ExecEngine, RawExec } from './raw-exec.ts';
import { goOn, startEnvironment, startScript } from './start-script.ts';

/** One program, the engine that starts it, and what it gets. */
export interface ExecProcessInput {
  readonly engine: ExecEngine;
  readonly spec: ProcessSpec & { readonly env: Readonly<Record<string, string>>; readonly cwd: string };
  /** Names that the container's own environment has. */
  readonly inherited: readonly string[];
  /** Absolute path of the workspace inside, which is opened where an agent has closed it to itself. */
  readonly workspace?: string;
  /** Open descriptors that the process may have. */
  readonly openFiles: number;
  /** Numbers of the processors that it is to be bound to; none where the container is. */
  readonly processors: readonly number[];
  /**
   * Runs shell text in the container beside the process; resolves when it is done or cannot be. Absent for a program of our own
   * that ends with its stdin.
   */
  readonly runBeside?: (script: string) => Promise<void>;
  /** Processes of its user at most, where the engine bounds none of a container. */
  readonly processes?: number;
  /** Nothing is added to its environment; what leaves its tree of processes is then not found any more. @defaultValue false */
  readonly isUnmarked?: boolean;
  readonly onEnd: (process: ExecProcess) => void;
}

/** Output that nobody has read yet; beyond it the process is held back. */
const MAX_UNREAD_BYTES = 2 ** 20;
/** The same of a process that was killed: its end comes behind what was under way. */
const MAX_LAST_BYTES = 64 * 2 ** 20;
/** How long a process may take to be gone after it was killed, before its connection is dropped all the same. */
const KILL_GRACE_MS = 3_000;
/** How long a program may take from the engine's answer to its first word. */
const START_MS = 30_000;

interface Started {
  readonly wrapperPid: number;
  readonly pid: number;
}

/** One process in a container, over one connection to its engine. */
export class ExecProcess implements ProcessHandle {
  readonly exit: Promise<ExitStatus>;
  readonly resize?: (size: TerminalSize) => Promise<void>;
  /** By which the engine knows it. */
  readonly execId: string;
  readonly #input: ExecProcessInput;
  readonly #exec: RawExec;
  readonly #unread: OutputChunk[] = [];
  #unreadBytes = 0;
  #maxUnreadBytes = MAX_UNREAD_BYTES;
  #hasOutputEnded = false;
  /** Wakes who waits for output, and the pump that waits for readers. */
  #onChange: () => void = () => {};
  #changed: Promise<void> = Promise.resolve();
  #started: Started | undefined;
  #refusal: string | undefined;
  #hasEnded = false;
  #isKilled = false;
  #isAbandoned = false;
  readonly #settle: { resolve(status: ExitStatus): void; reject(error: unknown): void };

  private constructor(input: ExecProcessInput, exec: RawExec, nonce: string) {
    this.#input = input;
    this.execId = exec.id;
    this.#exec = exec;
    const { promise, resolve, reject } = Promise.withResolvers<ExitStatus>();
    this.#settle = { resolve, reject };
    this.exit = promise.finally(() => {
      this.#hasEnded = true;
      input.onEnd(this);
    });
    this.exit.catch(() => {}); // whoever asks is told; nobody has to ask
    if (input.spec.terminal) this.resize = (size) => this.#resize(size);
    this.#renew();
    void this.#pump(nonce);
  }

  /** @throws LitterboxError `NOT_FOUND` for a program or directory that is not there; else as the engine says. */
  static async start(input: ExecProcessInput, options?: CallOptions): Promise<ExecProcess> {
    const { engine, spec, inherited, openFiles, processors, workspace, isUnmarked = false } = input;
    options?.signal?.throwIfAborted();
    const nonce = engine.word ?? crypto.randomUUID();
    const hasTerminal = spec.terminal !== undefined;
    const env = { ...(!isUnmarked && { [CALL_VARIABLE]: crypto.randomUUID() }), ...spec.env };
    const hasStdin = hasTerminal || spec.stdin === 'pipe';
    const exec = await engine.start(
      {
        script: (hasFramedStdin) =>
          startScript({
            ...spec,
            env,
            foreign: inherited.filter((name) => !(name in env)),
            openFiles,
            processes: input.processes,
            processors,
            hasTerminal,
            hasFramedStdin,
            nonce,
            workspace,
          }),
        environment: startEnvironment(env),
        hasTerminal,
        hasStdin,
      },
      options,
    );
    const started = new ExecProcess({ ...input, spec: { ...spec, env } }, exec, nonce);
    try {
      await started.#begun(options);
      if (spec.terminal) {
        await started.#resize(spec.terminal);
        await input.runBeside?.(goOn(started.#started?.pid ?? 0));
      }
    } catch (error) {
      await started[Symbol.asyncDispose]();
      options?.signal?.throwIfAborted();
      throw error;
    }
    const abort = () => void started[Symbol.asyncDispose]();
    options?.signal?.addEventListener('abort', abort, { once: true });
    void started.exit.catch(() => {}).finally(() => options?.signal?.removeEventListener('abort', abort));
    return started;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk, void, undefined> {
    for (;;) {
      const next = this.#unread.shift();
      if (next) {
        this.#unreadBytes -= next.bytes.length;
        this.#renew();
        yield next;
      } else if (this.#hasOutputEnded || this.#isAbandoned) return;
      else await this.#changed;
    }
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#input.spec.stdin !== 'pipe' && !this.#input.spec.terminal) {
      throw new LitterboxError('INVALID_ARGUMENT', 'The process was started without stdin.', {
        operation: 'process.write',
        provider: this.#input.engine.provider,
      });
    }
    if (this.#hasEnded) return;
    const ended = this.exit.then(
      () => {},
      () => {},
    );
    await Promise.race([this.#exec.write(bytes), ended, this.#exec.closed]); // a program that ended takes nothing any more
  }

  async closeStdin(): Promise<void> {
    this.#exec.endInput();
  }

  async kill(signal: SignalName): Promise<void> {
    const pid = this.#started?.pid;
    if (this.#hasEnded || pid === undefined) return;
    // Its whole group, which it leads where the image has setsid. dash needs `--`; busybox complains of it, signals all the same and fails.
    const send = `kill -s ${signal.slice(3)}`;
    await this.#input.runBeside?.(`{ ${send} -${pid} || ${send} -- -${pid} || ${send} ${pid}; } 2>/dev/null`);
    if (signal !== 'SIGKILL') return;
    this.#maxUnreadBytes = MAX_LAST_BYTES;
    this.#renew();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const started = this.#started;
    if (!this.#hasEnded && started) {
      this.#isKilled = true;
      const { wrapperPid, pid } = started;
      const mark = this.#input.spec.env[CALL_VARIABLE] ?? crypto.randomUUID();
      // The program of a terminal has no shell of ours above it, and is ended with what it started.
      const own = wrapperPid === pid ? `kill -KILL ${pid}` : ':';
      if (this.#input.runBeside) await this.#input.runBeside(`lb_kill ${wrapperPid} ${mark}; ${own}`);
      else await this.closeStdin();
      let timer: ReturnType<typeof setTimeout> | undefined;
      const grace = new Promise((resolve) => {
        timer = setTimeout(resolve, KILL_GRACE_MS);
      });
      await Promise.race([this.exit.catch(() => {}), grace]);
      clearTimeout(timer);
    }
    this.#isAbandoned = true;
    this.#exec.destroy();
    this.#renew();
    this.#settle.resolve({ code: 137, signal: 'SIGKILL' }); // of no effect when it has ended otherwise
  }

  async #begun(options?: CallOptions): Promise<void> {
    const limit = AbortSignal.timeout(START_MS);
    const signal = options?.signal ? AbortSignal.any([limit, options.signal]) : limit;
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    while (!this.#started && !this.#refusal && !this.#hasOutputEnded && !signal.aborted)
      await Promise.race([this.#changed, stopped]);
    if (this.#started) return;
    options?.signal?.throwIfAborted();
    // A way that was lost says nothing of the process: no limit has been met.
    if (this.#hasOutputEnded && !this.#refusal)
      await this.exit.catch((error: unknown) => {
        if (isConnectionLost(error)) throw error;
      });
    throw this.#refusalError();
  }

  #refusalError(): LitterboxError {
    const { engine, spec } = this.#input;
    const details = { operation: 'process.spawn', provider: engine.provider };
    if (this.#refusal === 'no-cwd')
      return new LitterboxError(
        'NOT_FOUND',
        `There is no directory ${shown(spec.cwd)} in the sandbox, or its user may not enter it.`,
        {
          ...details,
          hint: 'Name a directory that exists inside the sandbox.',
        },
      );
    if (this.#refusal === 'no-program')
      return new LitterboxError('NOT_FOUND', `There is no program ${shown(spec.argv[0])} in the sandbox.`, {
        ...details,
        hint: 'Name a program that is in the PATH of the sandbox, or take an image that has it (container.base-image).',
      });
    if (this.#refusal === 'no-limit')
      return new LitterboxError(
        'UNSUPPORTED',
        `${engine.title} lets processes here have fewer than ${this.#input.openFiles} open files.`,
        { ...details, hint: "Set limits.open-files lower, or raise the engine's own limit (ulimit -Hn)." },
      );
    const said = this.#unread
      .map(({ bytes }) => new TextDecoder().decode(bytes))
      .join('')
      .trim()
      .slice(0, 300);
    return new LitterboxError(
      'UNAVAILABLE',
      `${engine.title} did not start a process in the sandbox${said === '' ? '' : `: ${shown(said)}`}.`,
      { ...details, hint: 'Try again: the limit of processes or of memory may have been reached.' },
    );
  }

  async #pump(nonce: string): Promise<void> {
    const splitters = {
      'stdout-data': new MarkerSplitter(
        (bytes) => this.#add({ type: 'stdout-data', bytes }),
        (text) => this.#hear(text),
      ),
      'stderr-data': new MarkerSplitter(
        (bytes) => this.#add({ type: 'stderr-data', bytes }),
        (text) => this.#hear(text),
      ),
    };
    for (const splitter of Object.values(splitters)) splitter.expect(nonce);
    try {
      for await (const { type, bytes } of this.#exec.output) {
        splitters[type].push(bytes);
        while (this.#unreadBytes > this.#maxUnreadBytes && !this.#isAbandoned) await this.#changed;
      }
    } catch {
      // The connection broke: the engine knows how the process ended, or nobody does.
    }
    for (const splitter of Object.values(splitters)) splitter.flush();
    this.#hasOutputEnded = true;
    this.#renew();
    if (!this.#hasEnded) await this.#askEngine();
  }

  #add(chunk: OutputChunk): void {
    if (chunk.bytes.length === 0 || this.#isAbandoned) return;
    // What waits in a frame's buffer would keep all of it.
    this.#unread.push({ type: chunk.type, bytes: chunk.bytes.slice() });
    this.#unreadBytes += chunk.bytes.length;
    this.#renew();
  }

  #hear(status: string): void {
    const [word, first, second] = status.trim().split(' ');
    if (word === 'started' && !this.#started) this.#started = { wrapperPid: Number(first), pid: Number(second) };
    else if (word === 'exit') {
      // The engine carries stdout and stderr independently: the end can arrive before the beginning.
      this.#started ??= { wrapperPid: 0, pid: 0 };
      this.#end(exitStatusOf(Number(first) & 0xff));
    } else if (word !== undefined && !this.#started) this.#refusal = word;
    else if (word === 'gone') {
      // Said by what started it, which goes on and holds the output: nothing more comes.
      this.#end(exitStatusOf(Number(first) & 0xff));
      this.#exec.destroy();
    }
    this.#renew();
  }

  #end(status: ExitStatus): void {
    this.#hasEnded = true;
    this.#settle.resolve(this.#isKilled ? { code: 137, signal: 'SIGKILL' } : status);
  }

  async #askEngine(): Promise<void> {
    if (this.#isKilled || this.#refusal !== undefined) return this.#end({ code: 137, signal: 'SIGKILL' });
    try {
      const code = await this.#exec.exitCode();
      if (code !== undefined) return this.#end(exitStatusOf(code & 0xff));
    } catch (error) {
      if (isLitterboxError(error, 'UNAVAILABLE')) return this.#settle.reject(this.#lost(error));
    }
    this.#settle.reject(
      new LitterboxError('UNAVAILABLE', 'The container of the sandbox ended while a process was running in it.', {
        operation: 'process.exit',
        provider: this.#input.engine.provider,
        hint: 'Start it again: Litterbox starts the container. If it happens again, the memory limit may be too low.',
      }),
    );
  }

  /** The engine is not there to say what became of it. */
  #lost(error: LitterboxError): LitterboxError {
    return connectionLost(
      `Litterbox lost the connection to a program and does not know whether it still runs: ${error.message}`,
      { ...error.details, operation: 'process.exit' },
      { cause: error },
    );
  }

  async #resize(size: TerminalSize): Promise<void> {
    if (!this.#hasEnded) await this.#exec.resize(size);
  }

  #renew(): void {
    this.#onChange();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#changed = promise;
    this.#onChange = resolve;
  }
}
