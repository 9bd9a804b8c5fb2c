import {
  type Assurance,
  type ByteStream,
  type CallOptions,
  type ChangeMark,
  type ChangeScan,
  ChangeScanner,
  type Host,
  LitterboxError,
  type NamespaceLoopback,
  type ProcessHandle,
  type ProcessSpec,
  reach,
  type ResourceUsage,
  runScript,
  runScriptOrFail,
  type SandboxId,
  type SandboxRuntime,
} from '@litterbox/core/provider';
import { INSIDE } from './bwrap-arguments.ts';
import { cgroupFreeze, cgroupIsFrozen, cgroupUsage } from './cgroup.ts';
import { endSessionScript } from './end-session.ts';
import { Session, type SessionInput } from './session.ts';

/** A sandbox of this provider, as one process uses it. Its session starts with the first process. */
export class OverlayRuntime implements SandboxRuntime {
  readonly id: SandboxId;
  readonly workdir: string;
  readonly playground = INSIDE.playground;
  readonly environment: Readonly<Record<string, string>>;
  /** Absent on a host that cannot enter networks. */
  readonly connect?: (port: number, call?: CallOptions) => Promise<ByteStream>;
  readonly prepared?: string;
  readonly #input: SessionInput;
  readonly #host: Host;
  #starting: Promise<Session> | undefined;
  readonly #scanner: ChangeScanner;
  #loopback: NamespaceLoopback | undefined;
  #loopbackSession: Session | undefined;
  #isDisposed = false;

  constructor(input: SessionInput) {
    this.#input = input;
    this.#host = input.host;
    this.id = input.meta.id;
    this.workdir = input.meta.workdir;
    if (input.meta.prepared !== undefined) this.prepared = input.meta.prepared.key;
    this.environment = input.environment;
    if (input.host.loopback) this.connect = (port, call) => this.#connect(port, call);
    this.#scanner = new ChangeScanner({
      host: input.host,
      stateFile: input.sandbox.scanState,
      changes: input.strategy.changes === 'upper' ? '/changes' : '/workspace',
      workspace: '/workspace',
      ...(input.strategy.changes === 'upper' && input.meta.prepared !== undefined && { prepared: '/prepared' }),
      spawn: (spec, call) => this.#spawn('scanner', spec, call),
    });
  }

  async assurance(call?: CallOptions): Promise<Assurance> {
    call?.signal?.throwIfAborted();
    return (await this.#session(call)).assurance;
  }

  async spawn(spec: ProcessSpec, call?: CallOptions): Promise<ProcessHandle> {
    await this.#assertRuns(call);
    return await this.#spawn('sandbox', spec, call);
  }

  async scan(mark: ChangeMark | undefined, call?: CallOptions): Promise<ChangeScan> {
    await this.#assertRuns(call);
    return await this.#scanner.scan(mark ?? this.#input.meta.firstMark, call);
  }

  /** Starts session and scanner ahead of the first command. */
  async warm(call?: CallOptions): Promise<void> {
    await this.#session(call);
    await this.#scanner.warm(call);
  }

  async mark(call?: CallOptions): Promise<ChangeMark> {
    await this.#assertRuns(call);
    return await this.#scanner.now(call);
  }

  async pause(call?: CallOptions): Promise<void> {
    const { machine, sandbox, meta } = this.#input;
    const { cgroup } = machine;
    if (!cgroup) throw noControlGroups('pause');
    if (await this.#isStopped(call)) return;
    await this.#host.files.write(sandbox.pausedMark, new Uint8Array());
    reach('pause.after-mark');
    // Without a session there is no group and nothing to freeze: the mark is what keeps commands out.
    const frozen = cgroupIsFrozen(cgroup, meta.id);
    await runScriptOrFail(
      this.#host,
      'runtime.pause',
      `[ -d '${cgroup.parents.freezer}/${meta.id}' ] || exit 0
${cgroupFreeze(cgroup, meta.id, true)}
n=0
until ${frozen}; do n=$((n+1)); [ $n -lt 500 ] || exit 1; sleep 0.01; done`,
      call,
    );
  }

  async resume(call?: CallOptions): Promise<void> {
    const { machine, sandbox, meta } = this.#input;
    const { cgroup } = machine;
    if (cgroup)
      await runScriptOrFail(
        this.#host,
        'runtime.resume',
        `[ ! -d '${cgroup.parents.freezer}/${meta.id}' ] || ${cgroupFreeze(cgroup, meta.id, false)}`,
        call,
      );
    reach('resume.after-thaw');
    await this.#host.files.remove(sandbox.pausedMark, call);
    await this.start(call);
  }

  async stop(call?: CallOptions): Promise<void> {
    const { sandbox } = this.#input;
    await this.#host.files.write(sandbox.stoppedMark, new Uint8Array());
    reach('stop.after-mark');
    await runScriptOrFail(this.#host, 'runtime.stop', endSessionScript(sandbox.directory), call);
    await this.#host.files.remove(sandbox.pausedMark, call);
  }

  async start(call?: CallOptions): Promise<void> {
    await this.#host.files.remove(this.#input.sandbox.stoppedMark, call);
  }

  async #connect(port: number, call?: CallOptions): Promise<ByteStream> {
    // Without a session one is started, which a sandbox that is stopped must not be: then the look comes first, else meanwhile.
    const current = await this.#starting?.catch(() => undefined);
    const looking = this.#assertRuns(call);
    if (!current?.isAlive) await looking;
    const [looked, opened] = await Promise.allSettled([
      looking,
      this.#session(call).then((session) => this.#loopbackOf(session).connect(port, call)),
    ]);
    if (looked.status === 'rejected') {
      if (opened.status === 'fulfilled') await opened.value[Symbol.asyncDispose]();
      throw looked.reason;
    }
    if (opened.status === 'rejected') throw opened.reason;
    return opened.value;
  }

  async usage(call?: CallOptions): Promise<ResourceUsage> {
    const { machine, meta } = this.#input;
    if (!machine.cgroup) return {};
    const { code, stdout } = await runScript(this.#host, cgroupUsage(machine.cgroup, meta.id), call);
    if (code !== 0) return { memoryBytes: 0, processes: 0 }; // no session: nothing runs
    const [memoryBytes = 0, cpuNanoseconds = 0, processes = 0] = stdout.split('\n').map(Number);
    return { memoryBytes, cpuMs: cpuNanoseconds / 1e6, processes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#loopback?.[Symbol.asyncDispose]();
    await this.#scanner[Symbol.asyncDispose]();
    const session = await this.#starting?.catch(() => undefined);
    await session?.[Symbol.asyncDispose]();
  }

  /** A session that ended while the process was being started is replaced once: then there is another reason. */
  async #spawn(where: 'sandbox' | 'scanner', spec: ProcessSpec, call?: CallOptions): Promise<ProcessHandle> {
    const session = await this.#session(call);
    try {
      return await session.spawn(where, spec, call);
    } catch (error) {
      if (session.isAlive || this.#isDisposed || call?.signal?.aborted) throw error;
      return await (await this.#session(call)).spawn(where, spec, call);
    }
  }

  /** One per session: another session has another network. */
  #loopbackOf(session: Session): NamespaceLoopback {
    const { network } = session;
    if (!this.#host.loopback) {
      throw new LitterboxError('UNSUPPORTED', `Ports of sandboxes on ${this.#host.name} cannot be reached.`, {
        operation: 'runtime.connect',
        provider: 'overlayfs',
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
  async #session(call?: CallOptions): Promise<Session> {
    if (this.#isDisposed)
      throw new LitterboxError('DISPOSED', 'The sandbox was closed by this program.', {
        operation: 'runtime.spawn',
        provider: 'overlayfs',
        hint: 'Open it again.',
      });
    const current = this.#starting;
    if (current) {
      const session = await current.catch(() => undefined);
      if (session?.isAlive) return session;
      if (this.#starting !== current) return await this.#session(call);
      await session?.[Symbol.asyncDispose]();
    }
    // Not bound to the caller's signal: others may wait for the same start.
    const starting = Session.attach(this.#input);
    this.#starting = starting;
    starting.catch(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    return await starting;
  }

  async #assertRuns(call?: CallOptions): Promise<void> {
    const { sandbox } = this.#input;
    const [paused, stopped] = await Promise.all([
      this.#host.files.stat(sandbox.pausedMark, call),
      this.#host.files.stat(sandbox.stoppedMark, call),
    ]);
    if (paused) {
      throw new LitterboxError('SANDBOX_PAUSED', 'The sandbox is paused.', {
        operation: 'runtime.spawn',
        provider: 'overlayfs',
        hint: 'Run litterbox resume on it.',
      });
    }
    if (stopped) {
      throw new LitterboxError('SANDBOX_STOPPED', 'The sandbox is stopped.', {
        operation: 'runtime.spawn',
        provider: 'overlayfs',
        hint: 'Run litterbox resume on it.',
      });
    }
  }

  async #isStopped(call?: CallOptions): Promise<boolean> {
    return (await this.#host.files.stat(this.#input.sandbox.stoppedMark, call)) !== undefined;
  }
}

function noControlGroups(what: string): LitterboxError {
  return new LitterboxError('UNSUPPORTED', `Processes cannot be frozen here: this user may not make control groups.`, {
    operation: `runtime.${what}`,
    provider: 'overlayfs',
    hint: 'Use pause --stop, or run litterbox doctor for the command that hands control groups to this user.',
  });
}
