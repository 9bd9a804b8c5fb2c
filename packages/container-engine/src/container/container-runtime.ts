import { setTimeout as delay } from 'node:timers/promises';
import {
  type Assurance,
  assertPort,
  type ByteStream,
  CALL_VARIABLE,
  type CallOptions,
  type ChangeMark,
  type ChangeScan,
  ExecChannel,
  type Host,
  isLitterboxError,
  KILL_FUNCTION,
  LitterboxError,
  type NamespaceLoopback,
  type OpenPort,
  type ProcessHandle,
  type ProcessSpec,
  failpoint,
  type ResourceUsage,
  type SandboxId,
  type SandboxRuntime,
  type ScanOptions,
} from '@litterbox/core/provider';
import type { RunMarks } from '@litterbox/linux-sandbox';
import { ChangeScanner, ExecProcess, LOOKING_ENVIRONMENT } from '@litterbox/sandbox-kit';
import { inheritedNames, sandboxEnvironment } from './container-options.ts';
import { execEngineOf } from '../process/exec-engine.ts';
import { firstWorkerOf } from '../process/first-worker.ts';
import type { Containers } from './containers.ts';
import type { Engine } from '../engine/engine.ts';
import { isPausedNow } from '../engine/engine-answers.ts';
import { STALE_STATE_MS, LOOK_AGAIN_MS } from '../engine/stale-state.ts';
import { INSIDE, type Layers, type SandboxLayout } from '../engine/layout.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';
import { walkerPlace } from '../process/walker-place.ts';

export interface ContainerRuntimeInput {
  readonly engine: Engine;
  readonly host: Host;
  readonly containers: Containers;
  readonly marks: RunMarks;
  readonly sandbox: SandboxLayout;
  readonly layers: Layers;
  readonly meta: SandboxMeta;
}

/** A sandbox in a container, as one process uses it. Its container is started, or made again, with the first process. */
export class ContainerRuntime implements SandboxRuntime {
  readonly id: SandboxId;
  readonly workdir: string;
  readonly playground = INSIDE.playground;
  readonly environment: Readonly<Record<string, string>>;
  readonly prepared?: string;
  readonly #input: ContainerRuntimeInput;
  readonly #marks: RunMarks;
  readonly #inherited: readonly string[];
  readonly #processes = new Set<ExecProcess>();
  readonly #scanner: ChangeScanner;
  /** Runs our own words beside the agent's programs: a new process is not to be had when the limit of processes is reached. */
  readonly #control: ExecChannel;
  #container: Promise<string> | undefined;
  /** The container that was just made for this runtime: nobody has attached to it. */
  #fresh: string | undefined;
  #assurance: Assurance | undefined;
  #affinity: Promise<readonly number[]> | undefined;
  #loopback: Promise<NamespaceLoopback> | undefined;
  /** The run of the container whose network it leads to. */
  #network: string | undefined;
  #isDisposed = false;

  constructor(input: ContainerRuntimeInput) {
    const { meta, host, sandbox, layers } = input;
    this.#input = input;
    this.#marks = input.marks;
    this.id = meta.id;
    this.workdir = meta.workdir;
    if (meta.prepared !== undefined) this.prepared = meta.prepared;
    this.environment = sandboxEnvironment(meta);
    this.#inherited = inheritedNames(meta);
    this.#control = new ExecChannel({ spawn: (spec, call) => this.#startBeside(spec, call) });
    this.#scanner = new ChangeScanner({
      host,
      stateFile: sandbox.scanState,
      changes: INSIDE.changes,
      workspace: meta.workdir,
      isInside: true,
      ...(meta.prepared !== undefined && { prepared: INSIDE.prepared }),
      ...(meta.isCopy && { isCopy: true }),
      spawn: (spec, call) => this.#start({ cwd: '/', ...spec }, OWN_ENVIRONMENT, call),
      aside: walkerPlace(host, layers.upper, meta.user),
    });
  }

  /** Starts what looks for changes while the container starts: its first command waits for both. */
  warm(): void {
    void this.#scanner.warm();
  }

  /** Its container has just been started, and this was read back from it. */
  begin(container: string, assurance: Assurance): void {
    this.#container = Promise.resolve(container);
    this.#fresh = container;
    this.#assurance = assurance;
  }

  async assurance(options?: CallOptions): Promise<Assurance> {
    options?.signal?.throwIfAborted();
    const justRead = this.#assurance;
    this.#assurance = undefined; // later things may be otherwise
    if (justRead) return justRead;
    const assurance = await this.#input.containers.facts.assurance(this.#input.meta, options);
    // Another network by now: what listens in the old one is reached by nobody.
    if (this.#loopback && !(await this.#isSameNetwork())) await this.#leave();
    return assurance;
  }

  async spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
    options?.signal?.throwIfAborted();
    this.#processors().catch(() => {}); // meanwhile; who starts the program is told
    await this.#marks.assertRunning(options);
    void this.#scanner.warm(); // what the command changed will be asked for next
    return await this.#start(spec, this.environment, options);
  }

  async scan(mark: ChangeMark | undefined, options?: ScanOptions): Promise<ChangeScan> {
    // Looking would start a container that is not known, also of a sandbox that is stopped.
    if (!this.#container) {
      await this.#marks.assertRunning(options);
      return await this.#scanner.scan(mark, options);
    }
    const scanning = this.#scanner.scan(mark, options);
    scanning.catch(() => {}); // told below, unless the sandbox is at rest
    await this.#marks.assertRunning(options);
    return await scanning;
  }

  async mark(options?: CallOptions): Promise<ChangeMark> {
    await this.#marks.assertRunning(options);
    return await this.#scanner.now(options);
  }

  async connect(port: number, options?: CallOptions): Promise<ByteStream> {
    return await this.#through(options, (loopback) => loopback.connect(port, options));
  }

  async listen(port: number, onConnection: (stream: ByteStream) => void, options?: CallOptions): Promise<OpenPort> {
    assertPort('runtime.listen', port);
    return await this.#through(options, (loopback) => loopback.listen(port, onConnection, options));
  }

  async pause(options?: CallOptions): Promise<void> {
    const { pauses } = this.#input.containers;
    if (await this.#marks.isSet('stopped', options)) return;
    await pauses.assertPausable(options);
    const isMarked = await this.#marks.isSet('paused', options);
    await this.#marks.set('paused');
    failpoint('container.after-paused-mark');
    // Where nothing runs the mark is what keeps commands out.
    await pauses.pause(this.id, isMarked, options);
  }

  async resume(options?: CallOptions): Promise<void> {
    await this.#input.containers.pauses.unpause(this.id, await this.#marks.isSet('paused', options), options);
    failpoint('container.after-unpause');
    await this.#marks.clear('paused', options);
    await this.start(options);
  }

  async stop(options?: CallOptions): Promise<void> {
    await this.#marks.set('stopped');
    failpoint('container.after-stopped-mark');
    await this.#input.containers.ends.kill(this.id, options);
    failpoint('container.after-kill');
    this.#container = undefined;
    await this.#leave();
    await this.#marks.clear('paused', options);
  }

  async start(options?: CallOptions): Promise<void> {
    await this.#marks.clear('stopped', options);
  }

  /** Opens something in the network of the container, while the sandbox neither pauses nor is stopped. */
  async #through<Opened extends AsyncDisposable>(
    options: CallOptions | undefined,
    open: (loopback: NamespaceLoopback) => Promise<Opened>,
  ): Promise<Opened> {
    const looking = this.#marks.assertRunning(options);
    // A container that ended meanwhile, or was started again, has another network: then there is a second try.
    const known = await this.#loopback?.catch(() => undefined);
    if (!known) await looking;
    const [looked, opened] = await Promise.allSettled([looking, known ? open(known) : this.#reach().then(open)]);
    if (looked.status === 'rejected') {
      if (opened.status === 'fulfilled') await opened.value[Symbol.asyncDispose]();
      throw looked.reason;
    }
    if (opened.status === 'fulfilled') return opened.value;
    const isSame = !known || (await this.#isSameNetwork());
    if (isSame || options?.signal?.aborted) throw opened.reason;
    await this.#leave();
    return await open(await this.#reach());
  }

  async usage(options?: CallOptions): Promise<ResourceUsage> {
    return await this.#input.containers.usage.of(this.id, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The processes first, while there is somebody to end them.
    await Promise.allSettled([...this.#processes].map((process) => process[Symbol.asyncDispose]()));
    this.#isDisposed = true;
    await this.#leave();
    await this.#scanner[Symbol.asyncDispose]();
    await this.#control[Symbol.asyncDispose]();
  }

  /** A container that ended while the process was being started is started once more: then there is another reason. */
  async #start(
    spec: ProcessSpec,
    environment: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<ProcessHandle> {
    try {
      return await this.#startIn(() => this.#running(options), spec, environment, options);
    } catch (error) {
      // An engine that does not answer is not asked again: who called has waited long enough.
      if (isSilent(error) || this.#isDisposed || options?.signal?.aborted || !(await this.#hasEnded(options)))
        throw error;
      this.#container = undefined;
      await this.#marks.assertRunning(options); // whoever stopped it meant it
      return await this.#startIn(() => this.#running(options), spec, environment, options);
    }
  }

  /** Beside what runs: a container that is not there any more is neither made nor started for it. */
  async #startBeside(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
    const beside = async () => {
      const found = await this.#input.containers.find(this.id, options);
      if (found && found.state !== 'ended') return found.id;
      throw new LitterboxError('UNAVAILABLE', 'The container of the sandbox does not run.', {
        operation: 'runtime.spawn',
        provider: this.#input.engine.provider,
      });
    };
    return await this.#startIn(beside, spec, OWN_ENVIRONMENT, options);
  }

  async #startIn(
    container: () => Promise<string>,
    spec: ProcessSpec,
    environment: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<ProcessHandle> {
    const isOwn = environment === OWN_ENVIRONMENT;
    const { engine } = this.#input;
    for (const limit = performance.now() + STALE_STATE_MS; ; ) {
      let isFirst = false;
      try {
        const at = await container();
        isFirst = !isOwn && isShell(spec) && this.#fresh === at;
        if (isFirst) this.#fresh = undefined;
        const process = await ExecProcess.start(
          {
            engine: isFirst ? firstWorkerOf(engine, at, this.id) : execEngineOf(engine, at),
            spec: {
              cwd: this.workdir,
              ...spec,
              env: { [CALL_VARIABLE]: crypto.randomUUID(), ...(spec.env ?? environment) },
            },
            inherited: this.#inherited,
            workspace: this.workdir,
            openFiles: this.#input.meta.limits.openFiles,
            processors: await this.#processors(),
            ...(!isOwn && { runBeside: (script) => this.#tell(script) }),
            onEnd: (one) => this.#processes.delete(one),
          },
          options,
        );
        if (!isOwn) this.#processes.add(process);
        return process;
      } catch (error) {
        // An engine that lets nobody attach, or somebody inside has ended that shell.
        if (isFirst && isLitterboxError(error, 'UNAVAILABLE') && !isSilent(error)) continue;
        const isRefused = isLitterboxError(error) && isPausedNow(error.cause);
        if (isRefused && (await this.#input.containers.pauses.undisturbed(this.id, options))) continue;
        if (!isRefused || performance.now() > limit || (await this.#marks.isSet('paused', options))) throw error;
        await delay(LOOK_AGAIN_MS); // the engine has not heard yet that it runs again
      }
    }
  }

  #processors(): Promise<readonly number[]> {
    this.#affinity ??= this.#input.containers.facts.affinity(this.id).catch((error: unknown) => {
      this.#affinity = undefined;
      throw error;
    });
    return this.#affinity;
  }

  async #tell(script: string): Promise<void> {
    await this.#control
      .run({ argv: ['-'], script: `${KILL_FUNCTION}${script}`, timeoutMs: TELL_MS, maxOutputBytes: 1024 })
      .catch(() => undefined); // the container has ended, and so has what should be told
  }

  async #running(options?: CallOptions): Promise<string> {
    if (this.#isDisposed)
      throw new LitterboxError('DISPOSED', 'The sandbox was closed by this program.', {
        operation: 'runtime.spawn',
        provider: this.#input.engine.provider,
        hint: 'Open it again.',
      });
    const current = (this.#container ??= this.#input.containers.ensureRunning(this.#input.meta, options));
    try {
      return await current;
    } catch (error) {
      if (this.#container === current) this.#container = undefined;
      throw error;
    }
  }

  /** One loopback for each network: a container that is started again has another one. */
  #reach(): Promise<NamespaceLoopback> {
    this.#loopback ??= (async () => {
      const { host, containers, meta } = this.#input;
      const network = await containers.facts.network(meta);
      this.#network = network.run;
      if (network.namespace && host.loopback) return host.loopback(network.namespace);
      return containers.sidecars.loopback(meta, network.container);
    })().catch((error: unknown) => {
      this.#loopback = undefined;
      throw error;
    });
    return this.#loopback;
  }

  async #isSameNetwork(): Promise<boolean> {
    const network = await this.#input.containers.facts.network(this.#input.meta).catch(() => undefined);
    return network?.run === this.#network;
  }

  async #leave(): Promise<void> {
    const left = await this.#loopback?.catch(() => undefined);
    this.#loopback = undefined;
    await left?.[Symbol.asyncDispose]();
  }

  async #hasEnded(options?: CallOptions): Promise<boolean> {
    return (await this.#input.containers.find(this.id, options).catch(() => undefined))?.state !== 'running';
  }
}

const isSilent = (error: unknown) => isLitterboxError(error) && error.details.facts?.['isSilent'] === true;

/** A shell that takes its commands from its input, as the exec channel has them. */
const isShell = ({ argv, stdin, terminal }: ProcessSpec) =>
  argv.join(' ') === 'sh -s' && stdin === 'pipe' && terminal === undefined;

/** How long what we tell a container may take: it only ever sends signals. */
const TELL_MS = 10_000;
/** Of programs that are the provider's own: where an image keeps its programs, and nothing a user set. */
const OWN_ENVIRONMENT = {
  ...LOOKING_ENVIRONMENT,
  [CALL_VARIABLE]: 'infrastructure',
};
