import {
  type Assurance,
  assertPort,
  CALL_VARIABLE,
  type CallOptions,
  type ChangeMark,
  type ChangeScan,
  ExecChannel,
  type Host,
  INSIDE,
  KILL_FUNCTION,
  LitterboxError,
  type NamespaceLoopback,
  type ProcessHandle,
  type ProcessSpec,
  type ResourceUsage,
  type SandboxId,
  type SandboxRuntime,
  type SandboxSpec,
} from '@litterbox/core/provider';
import { baseEnvironment, ChangeScanner, DEFAULT_PATH, ExecProcess, notHere, notRunning } from '@litterbox/sandbox-kit';
import { assertControls } from './assert-controls.ts';
import { type BegunSandbox, beginSandbox } from './begin-sandbox.ts';
import { killAll } from './kill-all.ts';
import { apiAddress, type KubeApi } from './api/kube-api.ts';
import { lookAtControls } from './look-at-controls.ts';
import { BESIDE, CONTAINER, podExecEngine } from './pod-exec.ts';
import { cannotFreeze, podGone } from './pod-failures.ts';
import { OWN_ENVIRONMENT } from './own-environment.ts';
import { podLoopback } from './pod-loopback.ts';
import { ANNOTATIONS, type MadePod, type PodMeta, type PodState } from './pod-meta.ts';
import { asSoonAsItRuns } from './as-soon-as-it-runs.ts';
import type { Pods } from './pods.ts';
import { podUsage, timeToKeep, uncounted } from './pod-usage.ts';
import { StartGate } from './start-gate.ts';
import { TRAITS } from './traits.ts';

export interface PodRuntimeInput {
  readonly api: KubeApi;
  readonly pods: Pods;
  /** This machine, for what it remembers of the workspace between programs. */
  readonly host: Host;
  readonly stateFile: string;
  readonly meta: PodMeta;
  /** Name of its pod. */
  readonly name: string;
  /** Absent while it is being made. */
  readonly made?: MadePod;
}

/** How long what we tell a pod may take: it only ever sends signals. */
const TELL_MS = 10_000;

/** A sandbox in a pod, as one process uses it. */
export class PodRuntime implements SandboxRuntime {
  readonly id: SandboxId;
  readonly workdir: string;
  readonly playground = INSIDE.playground;
  connect?: NonNullable<SandboxRuntime['connect']>;
  listen?: NonNullable<SandboxRuntime['listen']>;
  readonly #input: PodRuntimeInput;
  readonly #processes = new Set<ExecProcess>();
  readonly #gate = new StartGate();
  readonly #scanner: ChangeScanner;
  /** Runs our own words beside the agent's programs. */
  readonly #control: ExecChannel;
  #made: MadePod | undefined;
  #loopback: NamespaceLoopback | undefined;
  /** The controls at its making, for who asks first. */
  #begun: Assurance | undefined;
  #isDisposed = false;

  constructor(input: PodRuntimeInput) {
    const { meta, made, host, stateFile } = input;
    this.#input = input;
    this.id = meta.id;
    this.workdir = meta.workdir;
    if (made) this.#become(made);
    this.#control = new ExecChannel({ spawn: (spec, call) => this.#start(spec, OWN_ENVIRONMENT, call) });
    this.#scanner = new ChangeScanner({
      host,
      stateFile,
      changes: meta.workdir,
      workspace: meta.workdir,
      spawn: (spec, call) => this.#start({ cwd: '/', ...spec }, OWN_ENVIRONMENT, call),
    });
  }

  get environment(): Readonly<Record<string, string>> {
    const { slug, environment } = this.#input.meta;
    const { PATH = DEFAULT_PATH, ...image } = this.#made?.imageEnvironment ?? {};
    return { ...image, ...baseEnvironment(slug, PATH), ...environment };
  }

  /**
   * Lays the base down in a pod that begins.
   *
   * @param running resolves when the cluster says that it runs, which is up to a second late; rejects when it never will
   */
  async begin(
    spec: SandboxSpec,
    addresses: readonly string[],
    running: Promise<unknown>,
    options?: CallOptions,
  ): Promise<BegunSandbox> {
    const start = async (argv: readonly [string, ...string[]]) =>
      await asSoonAsItRuns(running, (isEarly) =>
        this.#start({ argv, stdin: 'pipe', cwd: '/' }, OWN_ENVIRONMENT, options, isEarly),
      );
    return await beginSandbox(start, spec, { addresses, running }, options);
  }

  /** All of it has been made. */
  finish(made: MadePod, assurance: Assurance): void {
    this.#become(made);
    this.#begun = assurance;
  }

  #become(made: MadePod): void {
    this.#made = made;
    if (!made.hasPorts) return;
    const { api, pods, name } = this.#input;
    const loopback = podLoopback({ api, provider: pods.provider, pod: name });
    this.#loopback = loopback;
    this.connect = async (port, options) => {
      assertPort('runtime.connect', port);
      await this.#assertRunning(options);
      return await loopback.connect(port, options);
    };
    this.listen = async (port, onConnection, options) => {
      assertPort('runtime.listen', port);
      await this.#assertRunning(options);
      return await loopback.listen(port, onConnection, options);
    };
  }

  async assurance(options?: CallOptions): Promise<Assurance> {
    options?.signal?.throwIfAborted();
    const begun = this.#begun;
    this.#begun = undefined;
    if (begun) return begun;
    return await this.#look(await this.#assertRunning(options), options);
  }

  /** The controls of a pod that has just begun. @throws LitterboxError see `assertControls` */
  async assertControls(found: Assurance, options?: CallOptions): Promise<Assurance> {
    const { pods, meta } = this.#input;
    const look = async (call?: CallOptions) => await this.#look(await this.#found(call), call);
    return await assertControls({ provider: pods.provider, traits: TRAITS, meta, found, look }, options);
  }

  async #look(state: PodState, options?: CallOptions): Promise<Assurance> {
    const { api, pods, meta } = this.#input;
    return await lookAtControls({ api, provider: pods.provider, meta, state, control: this.#control }, options);
  }

  async spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
    options?.signal?.throwIfAborted();
    await this.#assertRunning(options);
    void this.#scanner.warm(); // what the command changed will be asked for next
    return await this.#start(spec, this.environment, options);
  }

  async scan(mark: ChangeMark | undefined, options?: CallOptions): Promise<ChangeScan> {
    await this.#assertRunning(options);
    return await this.#scanner.scan(mark ?? this.#made?.firstMark, options);
  }

  async mark(options?: CallOptions): Promise<ChangeMark> {
    await this.#assertRunning(options);
    return await this.#scanner.now(options);
  }

  async pause(options?: CallOptions): Promise<void> {
    if ((await this.#found(options)).isStopped) return;
    throw cannotFreeze(this.#input.pods.provider);
  }

  async resume(options?: CallOptions): Promise<void> {
    await this.start(options);
  }

  /** With a claim the pod goes, and what it had reserved. Without one it stays: its files lie on its node and would go with it. */
  async stop(options?: CallOptions): Promise<void> {
    const { api, pods, meta, name } = this.#input;
    const hasClaim = meta.limits.diskBytes !== undefined;
    const time = hasClaim ? await timeToKeep(this.#control, await this.#found(options), options) : {};
    await pods.annotate(meta, name, { [ANNOTATIONS.rest]: 'stopped', ...time });
    if (hasClaim) return await pods.rest(meta, options);
    const { hasPorts } = this.#made ?? {};
    const places = [CONTAINER, ...(hasPorts ? [BESIDE] : [])].map((container) => ({ pod: name, container }));
    await Promise.all(places.map((place) => killAll(podExecEngine(api, pods.provider, place), options)));
  }

  async start(options?: CallOptions): Promise<void> {
    const { pods, meta, name } = this.#input;
    if ((await this.#found(options)).isStopped) await pods.annotate(meta, name, { [ANNOTATIONS.rest]: null }, options);
    await this.#assertRunning(options, true);
  }

  async usage(options?: CallOptions): Promise<ResourceUsage> {
    return await podUsage(this.#control, await this.#found(options), options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The processes first, while there is somebody to end them.
    await Promise.allSettled([...this.#processes].map((process) => process[Symbol.asyncDispose]()));
    this.#isDisposed = true;
    await this.#loopback?.[Symbol.asyncDispose]();
    await this.#scanner[Symbol.asyncDispose]();
    await this.#control[Symbol.asyncDispose]();
  }

  async #found(options?: CallOptions): Promise<PodState> {
    options?.signal?.throwIfAborted();
    const state = await this.#input.pods.find(this.id, options, this.#input.name);
    if (!state) throw notHere(this.#input.pods.provider, this.id);
    return state;
  }

  /** A pod that was evicted, or whose node was lost, is made anew where a claim has its files. @param isKept its time is noted */
  async #assertRunning(options?: CallOptions, isKept = false): Promise<PodState> {
    const { pods, meta, name } = this.#input;
    const state = await this.#found(options);
    if (state.isStopped) throw notRunning(pods.provider, 'stopped');
    if (state.hasClaim && state.isGone) {
      if (!isKept) await pods.annotate(meta, name, uncounted(state), options);
      return await this.#restart(options);
    }
    const running = state.isRunning ? state : await pods.running(this.id, { name }, options);
    if (this.#made && running.isOwned && !running.isJudged) {
      if (!state.hasClaim) throw podGone(pods.provider, this.id, 'another one has come without its files');
      await this.#judge(running, options);
    }
    return running;
  }

  async #restart(options?: CallOptions): Promise<PodState> {
    const { api, pods, meta } = this.#input;
    const state = await pods.restart(meta, [await apiAddress(api)], options);
    try {
      await this.#judge(state, options);
      return state;
    } catch (error) {
      await pods.end(this.id).catch(() => {}); // nothing of an agent's has run in it
      throw error;
    }
  }

  /** Looks at the controls of a pod that somebody made anew. @throws LitterboxError see `assertControls` */
  async #judge(state: PodState, options?: CallOptions): Promise<void> {
    await this.assertControls(await this.#look(state, options), options);
    if (state.isOwned) await this.#input.pods.judge(state.name, options);
  }

  async #start(
    spec: ProcessSpec,
    environment: Readonly<Record<string, string>>,
    options?: CallOptions,
    isEarly = false,
  ): Promise<ProcessHandle> {
    const { api, pods, meta } = this.#input;
    if (this.#isDisposed)
      throw new LitterboxError('DISPOSED', 'The sandbox was closed by this program.', {
        operation: 'runtime.spawn',
        provider: pods.provider,
        hint: 'Open it again.',
      });
    const isOwn = environment === OWN_ENVIRONMENT;
    const process = await this.#gate.through(() =>
      ExecProcess.start(
        {
          engine: podExecEngine(api, pods.provider, { pod: this.#input.name, isEarly }),
          spec: {
            cwd: this.workdir,
            ...spec,
            env: { [CALL_VARIABLE]: crypto.randomUUID(), ...(spec.env ?? environment) },
          },
          inherited: [],
          workspace: this.workdir,
          openFiles: meta.limits.openFiles,
          processes: meta.limits.processes,
          processors: this.#made?.processors ?? [],
          ...(!isOwn && { runBeside: (script) => this.#signal(script) }),
          onEnd: (one) => this.#processes.delete(one),
        },
        options,
      ),
    );
    if (!isOwn) this.#processes.add(process);
    return process;
  }

  async #signal(script: string): Promise<void> {
    await this.#control
      .run({ argv: ['-'], script: `${KILL_FUNCTION}${script}`, timeoutMs: TELL_MS, maxOutputBytes: 1024 })
      .catch(() => undefined); // the pod has ended, and so has the programs with it
  }
}
