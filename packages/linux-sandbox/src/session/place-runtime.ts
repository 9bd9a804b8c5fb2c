import {
  type Hint,
  type Assurance,
  assertPort,
  LitterboxError,
  failpoint,
  type SandboxId,
  type ByteStream,
  type CallOptions,
  type Host,
  type NamespaceLoopback,
  type OpenPort,
  type ProcessHandle,
  type ProcessSpec,
  type ChangeMark,
  type ChangeScan,
  type ResourceUsage,
  type SandboxRuntime,
  INSIDE,
} from '@litterbox/core/provider';
import { ChangeScanner, type ScannerInput } from '@litterbox/sandbox-kit';
import { within } from '../loopback/within.ts';
import { RunMarks } from '../directory/run-marks.ts';
import { runScript, runScriptOrFail } from '../script/run-script.ts';
import { endSessionScript, type SessionLeavings } from './end-session.ts';
import { parseUsage } from './parse-usage.ts';
import { Session, type SessionInput, type SessionPurpose } from './place-session.ts';

/** What a runtime of a place stands on: its session, and how its processes are frozen and counted. */
export interface PlaceInput extends SessionInput {
  readonly id: SandboxId;
  /** Key of the kept setup that it stands on. */
  readonly prepared?: string;
  /** The person's directory that the workspace stands on. */
  readonly live?: string;
  /** Where change scans begin when nothing was recorded yet. Absent when all there is is new. */
  readonly firstMark?: ChangeMark;
  /** Where the change scanner finds its trees. */
  readonly scanned: Pick<ScannerInput, 'changes' | 'workspace' | 'prepared' | 'frozen' | 'onHeld' | 'isCopy'>;
  /** Shell text that freezes all processes and waits until they are, or thaws them; nothing where none run. Absent where it cannot be done. */
  readonly freeze?: (isFrozen: boolean) => string;
  /** How what a session left is ended. */
  readonly leavings: SessionLeavings;
  /** What to do where {@link PlaceInput.freeze} is absent. */
  readonly freezeHint: Hint;
  /** Shell text that prints memory in bytes, processor time in nanoseconds over all sessions and the number of processes. */
  readonly usage?: string;
}

/** How long the word that a session has ended may take, should somebody start the next one before it is said. */
const WORD_MS = 2_000;

/** A sandbox in namespaces of one machine, as one process uses it. Its session starts with the first process. */
export class PlaceRuntime implements SandboxRuntime {
  readonly id: SandboxId;
  readonly workdir: string;
  readonly playground = INSIDE.playground;
  readonly environment: Readonly<Record<string, string>>;
  /** Absent on a host that cannot enter networks. */
  readonly connect?: (port: number, options?: CallOptions) => Promise<ByteStream>;
  /** As {@link connect}. */
  readonly listen?: (
    port: number,
    onConnection: (stream: ByteStream) => void,
    options?: CallOptions,
  ) => Promise<OpenPort>;
  readonly prepared?: string;
  readonly live?: string;
  readonly #input: PlaceInput;
  readonly #host: Host;
  readonly #marks: RunMarks;
  #starting: Promise<Session> | undefined;
  readonly #scanner: ChangeScanner;
  #loopback: NamespaceLoopback | undefined;
  #loopbackSession: Session | undefined;
  #firstMark: ChangeMark | undefined;
  #isDisposed = false;

  constructor(input: PlaceInput) {
    this.#input = input;
    this.#host = input.host;
    this.#marks = new RunMarks(input.provider, input.host, input.files.directory);
    this.id = input.id;
    this.#firstMark = input.firstMark;
    this.workdir = input.workdir;
    if (input.prepared !== undefined) this.prepared = input.prepared;
    if (input.live !== undefined) this.live = input.live;
    this.environment = input.environment;
    if (input.host.loopback) {
      this.connect = (port, call) => this.#through('runtime.connect', call, (loopback) => loopback.connect(port, call));
      this.listen = (port, onConnection, call) => this.#listen(port, onConnection, call);
    }
    this.#scanner = new ChangeScanner({
      host: input.host,
      stateFile: input.files.scanState,
      ...input.scanned,
      spawn: (spec, call) => this.#spawn('scanner', spec, call),
      startScanner: (given) => this.#startIn((session) => session.startScanner(given)),
    });
  }

  async assurance(options?: CallOptions): Promise<Assurance> {
    options?.signal?.throwIfAborted();
    return (await this.#session('facts')).assurance;
  }

  async spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
    return await this.#spawn('sandbox', spec, options);
  }

  async scan(mark: ChangeMark | undefined, options?: CallOptions): Promise<ChangeScan> {
    return await this.#whileItRuns(options, () => this.#scanner.scan(mark ?? this.#firstMark, options));
  }

  /** From now on, no mark means this one. */
  beginAt(mark: ChangeMark): void {
    this.#firstMark = mark;
  }

  /** Starts session and scanner ahead of the first command; resolves when the session runs. */
  async warm(options?: CallOptions): Promise<void> {
    await this.#session('facts');
    options?.signal?.throwIfAborted();
    void this.#scanner.warm(); // who looks for changes waits for it
  }

  async mark(options?: CallOptions): Promise<ChangeMark> {
    return await this.#whileItRuns(options, () => this.#scanner.now(options));
  }

  async pause(options?: CallOptions): Promise<void> {
    const { provider, freeze, freezeHint } = this.#input;
    if (!freeze)
      throw new LitterboxError('UNSUPPORTED', 'Processes cannot be frozen here.', {
        operation: 'runtime.pause',
        provider,
        hint: freezeHint,
      });
    if (await this.#marks.isSet('stopped', options)) return;
    await this.#marks.set('paused');
    failpoint('pause.after-mark');
    // Without a session there is nothing to freeze: the mark is what keeps commands out.
    await runScriptOrFail(this.#host, 'runtime.pause', freeze(true), options);
  }

  async resume(options?: CallOptions): Promise<void> {
    const { freeze } = this.#input;
    if (freeze) await runScriptOrFail(this.#host, 'runtime.resume', freeze(false), options);
    failpoint('resume.after-thaw');
    await this.#marks.clear('paused', options);
    await this.start(options);
  }

  async stop(options?: CallOptions): Promise<void> {
    const { files } = this.#input;
    const entered = this.#loopbackSession;
    await this.#marks.set('stopped');
    failpoint('stop.after-mark');
    await runScriptOrFail(this.#host, 'runtime.stop', endSessionScript(files.directory, this.#input.leavings), options);
    if (entered) await within(WORD_MS, entered.ended); // or the next start finds the network of this one
    await this.#marks.clear('paused', options);
  }

  async start(options?: CallOptions): Promise<void> {
    await this.#marks.clear('stopped', options);
  }

  async #listen(port: number, onConnection: (stream: ByteStream) => void, options?: CallOptions): Promise<OpenPort> {
    assertPort('runtime.listen', port);
    return await this.#through('runtime.listen', options, async (loopback, session) => {
      const listener = await loopback.listen(port, onConnection, options);
      // What listens would keep the network of a session that has ended.
      void session.ended.then(() => listener[Symbol.asyncDispose]());
      return listener;
    });
  }

  /** Opens something in the network of the session, while the sandbox neither pauses nor is stopped. */
  async #through<Opened extends AsyncDisposable>(
    operation: string,
    options: CallOptions | undefined,
    open: (loopback: NamespaceLoopback, session: Session) => Promise<Opened>,
  ): Promise<Opened> {
    return await this.#whileItRuns(
      options,
      async () => {
        const session = await this.#session('program');
        return await open(this.#loopbackOf(session, operation), session);
      },
      (opened) => opened[Symbol.asyncDispose](),
    );
  }

  /**
   * Does something in the session while it is looked whether the sandbox is at rest. The answer counts if it is not.
   *
   * @param undo what becomes of the outcome when the sandbox turns out to be at rest
   */
  async #whileItRuns<Outcome>(
    options: CallOptions | undefined,
    work: () => Promise<Outcome>,
    undo?: (outcome: Outcome) => PromiseLike<void>,
  ): Promise<Outcome> {
    // Without a session the work starts one, which looks by itself whether it may. In a frozen one the work may never end.
    const working = work();
    working.catch(() => {}); // told below, unless the sandbox is at rest
    try {
      await this.#marks.assertRunning(options);
    } catch (error) {
      if (undo) await working.then(undo, () => {});
      throw error;
    }
    return await working;
  }

  async usage(options?: CallOptions): Promise<ResourceUsage> {
    options?.signal?.throwIfAborted();
    const { usage } = this.#input;
    if (usage === undefined) return {};
    return parseUsage((await runScript(this.#host, usage, options)).stdout);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#loopback?.[Symbol.asyncDispose]();
    await this.#scanner[Symbol.asyncDispose]();
    const session = await this.#starting?.catch(() => undefined);
    await session?.[Symbol.asyncDispose]();
  }

  /** A session that ended while the process was being started is replaced once: then there is another reason. */
  async #startIn<Started>(start: (session: Session) => Promise<Started>, options?: CallOptions): Promise<Started> {
    const session = await this.#session('program');
    try {
      return await start(session);
    } catch (error) {
      if (session.isAlive || this.#isDisposed || options?.signal?.aborted) throw error;
      return await start(await this.#session('program'));
    }
  }

  #spawn(where: 'sandbox' | 'scanner', spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
    return this.#startIn((session) => session.spawn(where, spec, options), options);
  }

  /** One per session: another session has another network. */
  #loopbackOf(session: Session, operation: string): NamespaceLoopback {
    const { network } = session;
    if (!this.#host.loopback) {
      throw new LitterboxError('UNSUPPORTED', `Ports of sandboxes on ${this.#host.name} cannot be reached.`, {
        operation,
        provider: this.#input.provider,
        hint: 'Use a sandbox on this machine, or a container provider.',
      });
    }
    if (this.#loopback && this.#loopbackSession === session) return this.#loopback;
    void this.#loopback?.[Symbol.asyncDispose]();
    this.#loopbackSession = session;
    this.#loopback = this.#host.loopback(network);
    return this.#loopback;
  }

  /** One session start at a time; a session that ended is replaced. */
  async #session(purpose: SessionPurpose): Promise<Session> {
    for (;;) {
      this.#assertOpen();
      const current = this.#starting;
      if (!current) break;
      const session = await current.catch(() => undefined);
      if (session?.isAlive) return session;
      await session?.[Symbol.asyncDispose]();
      // The first who waited for that starts the next one: a second start would be held by nobody.
      if (this.#starting === current) this.#starting = undefined;
    }
    // Not bound to the caller's signal: others may wait for the same start.
    const starting = Session.attach(this.#input, purpose);
    this.#starting = starting;
    starting.catch(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    return await starting;
  }

  #assertOpen(): void {
    if (!this.#isDisposed) return;
    throw new LitterboxError('DISPOSED', 'The sandbox was closed by this program.', {
      operation: 'runtime.spawn',
      provider: this.#input.provider,
      hint: 'Open it again.',
    });
  }
}
