import {
  type Assurance,
  CALL_VARIABLE,
  type CallOptions,
  type ChangeMark,
  type ChangeScan,
  decodeRaw,
  ExecChannel,
  type Host,
  INSIDE,
  KILL_FUNCTION,
  LitterboxError,
  type ProcessHandle,
  type ProcessSpec,
  type ResourceUsage,
  type SandboxId,
  type SandboxRuntime,
} from '@litterbox/core/provider';
import { baseEnvironment, ChangeScanner, DEFAULT_PATH, ExecProcess, notHere, notRunning } from '@litterbox/sandbox-kit';
import type { KubeApi } from './kube-api.ts';
import { assuranceOf, FACTS_SCRIPT } from './pod-assurance.ts';
import { podExecEngine } from './pod-exec.ts';
import { ANNOTATIONS, type MadePod, type PodMeta, podName, type PodState } from './pod-meta.ts';
import type { Pods } from './pods.ts';

export interface PodRuntimeInput {
  readonly api: KubeApi;
  readonly pods: Pods;
  /** This machine, for what it remembers of the workspace between programs. */
  readonly host: Host;
  readonly stateFile: string;
  readonly meta: PodMeta;
  /** Absent while it is being made. */
  readonly made?: MadePod;
}

/** How long what we tell a pod may take: it only ever sends signals. */
const TELL_MS = 10_000;
const MAX_FACTS_BYTES = 2 ** 20;
/** The environment of programs that are the provider's own. */
const OWN_ENVIRONMENT = {
  PATH: '/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin',
  LC_ALL: 'C',
  TZ: 'UTC0',
  [CALL_VARIABLE]: 'infrastructure',
};

/** Shell text that ends all processes but the first and itself, without starting any; again, because one may be forking. */
const KILL_ALL = `lb_n=0 lb_more=1
while [ "$lb_more" ] && [ $lb_n -lt 50 ]; do
lb_n=$((lb_n+1)) lb_more=
for lb_p in /proc/[0-9]*; do
lb_p=\${lb_p#/proc/}
[ $lb_p = 1 ] || [ $lb_p = $$ ] || { kill -KILL $lb_p && lb_more=1; } 2>/dev/null
done
done`;
/** Shell text that tells how many processes there are, and memory and time of the control groups of either version. */
const USAGE = `lb_n=0; for lb_p in /proc/[0-9]*; do lb_n=$((lb_n+1)); done; echo "p $lb_n"
cd /sys/fs/cgroup
for lb_f in memory.current memory/memory.usage_in_bytes; do read -r lb_n <$lb_f && echo "m $lb_n"; done
read -r lb_n <cpuacct/cpuacct.usage && echo "n $lb_n"
read -r lb_w lb_n <cpu.stat && echo "u $lb_n"
exit 0`;

/** A sandbox in a pod, as one process uses it. */
export class PodRuntime implements SandboxRuntime {
  readonly id: SandboxId;
  readonly workdir: string;
  readonly playground = INSIDE.playground;
  readonly environment: Readonly<Record<string, string>>;
  readonly #input: PodRuntimeInput;
  readonly #processes = new Set<ExecProcess>();
  readonly #scanner: ChangeScanner;
  /** Runs our own words beside the agent's programs. */
  readonly #control: ExecChannel;
  #firstMark: ChangeMark | undefined;
  #isDisposed = false;

  constructor(input: PodRuntimeInput) {
    const { meta, made, host, stateFile } = input;
    this.#input = input;
    this.id = meta.id;
    this.workdir = meta.workdir;
    this.#firstMark = made?.firstMark;
    const { PATH = DEFAULT_PATH, ...image } = made?.imageEnvironment ?? {};
    this.environment = { ...image, ...baseEnvironment(meta.slug, PATH), ...meta.environment };
    this.#control = new ExecChannel({ spawn: (spec, call) => this.#start(spec, OWN_ENVIRONMENT, call) });
    this.#scanner = new ChangeScanner({
      host,
      stateFile,
      changes: meta.workdir,
      workspace: meta.workdir,
      spawn: (spec, call) => this.#start({ cwd: '/', ...spec }, OWN_ENVIRONMENT, call),
    });
  }

  /** From this moment on counts what changes. */
  beginAt(mark: ChangeMark): void {
    this.#firstMark = mark;
  }

  async assurance(options?: CallOptions): Promise<Assurance> {
    const state = await this.#found(options);
    const { server } = await this.#input.api.context();
    const { hostname, port, protocol } = new URL(server);
    const address = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
    const { stdout } = await this.#control.run({
      argv: [address],
      script: FACTS_SCRIPT,
      maxOutputBytes: MAX_FACTS_BYTES,
    });
    options?.signal?.throwIfAborted();
    return assuranceOf(this.#input.pods.provider, this.#input.meta, state, decodeRaw(stdout.bytes));
  }

  async spawn(spec: ProcessSpec, options?: CallOptions): Promise<ProcessHandle> {
    options?.signal?.throwIfAborted();
    await this.#assertRunning(options);
    void this.#scanner.warm(); // what the command changed will be asked for next
    return await this.#start(spec, this.environment, options);
  }

  async scan(mark: ChangeMark | undefined, options?: CallOptions): Promise<ChangeScan> {
    await this.#assertRunning(options);
    return await this.#scanner.scan(mark ?? this.#firstMark, options);
  }

  async mark(options?: CallOptions): Promise<ChangeMark> {
    await this.#assertRunning(options);
    return await this.#scanner.now(options);
  }

  async pause(options?: CallOptions): Promise<void> {
    if ((await this.#found(options)).isStopped) return;
    throw new LitterboxError('UNSUPPORTED', 'A pod cannot be frozen.', {
      operation: 'runtime.pause',
      provider: this.#input.pods.provider,
      hint: 'Stop it instead: its files stay.',
    });
  }

  async resume(options?: CallOptions): Promise<void> {
    await this.start(options);
  }

  /** The pod stays, with its files and what it has reserved: they lie on its node and would go with it. */
  async stop(options?: CallOptions): Promise<void> {
    await this.#input.pods.annotate(this.id, { [ANNOTATIONS.rest]: 'stopped' });
    // It is a shell's own work: where no more processes are to be had, it goes on all the same.
    const killer = await podExecEngine(this.#input.api, this.#input.pods.provider, podName(this.id)).start(
      { script: () => KILL_ALL, environment: [], hasTerminal: false, hasStdin: false },
      options,
    );
    for await (const _chunk of killer.output); // until it has ended
    killer.destroy();
  }

  async start(options?: CallOptions): Promise<void> {
    if ((await this.#found(options)).isStopped)
      await this.#input.pods.annotate(this.id, { [ANNOTATIONS.rest]: null }, options);
  }

  async usage(options?: CallOptions): Promise<ResourceUsage> {
    const { stdout } = await this.#control.run({ argv: ['-'], script: USAGE, maxOutputBytes: MAX_FACTS_BYTES });
    options?.signal?.throwIfAborted();
    const of = (letter: string) => {
      const [, digits] = new RegExp(`^${letter} (\\d{1,15})$`, 'm').exec(decodeRaw(stdout.bytes)) ?? [];
      return digits === undefined ? undefined : Number(digits);
    };
    const [processes, memoryBytes, nanoseconds, microseconds] = [of('p'), of('m'), of('n'), of('u')];
    const cpuMs = nanoseconds === undefined ? microseconds && microseconds / 1e3 : nanoseconds / 1e6;
    return {
      ...(processes !== undefined && { processes }),
      ...(memoryBytes !== undefined && { memoryBytes }),
      ...(cpuMs !== undefined && { cpuMs: Math.round(cpuMs) }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The processes first, while there is somebody to end them.
    await Promise.allSettled([...this.#processes].map((process) => process[Symbol.asyncDispose]()));
    this.#isDisposed = true;
    await this.#scanner[Symbol.asyncDispose]();
    await this.#control[Symbol.asyncDispose]();
  }

  async #found(options?: CallOptions): Promise<PodState> {
    options?.signal?.throwIfAborted();
    const state = await this.#input.pods.find(this.id, options);
    if (!state) throw notHere(this.#input.pods.provider, this.id);
    return state;
  }

  async #assertRunning(options?: CallOptions): Promise<void> {
    const state = await this.#found(options);
    if (state.isStopped) throw notRunning(this.#input.pods.provider, 'stopped');
    if (!state.isRunning) await this.#input.pods.running(this.id, options);
  }

  async #start(
    spec: ProcessSpec,
    environment: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<ProcessHandle> {
    const { api, pods, meta } = this.#input;
    if (this.#isDisposed)
      throw new LitterboxError('DISPOSED', 'The sandbox was closed by this program.', {
        operation: 'runtime.spawn',
        provider: pods.provider,
        hint: 'Open it again.',
      });
    const isOwn = environment === OWN_ENVIRONMENT;
    const process = await ExecProcess.start(
      {
        engine: podExecEngine(api, pods.provider, podName(this.id)),
        spec: {
          cwd: this.workdir,
          ...spec,
          env: { [CALL_VARIABLE]: crypto.randomUUID(), ...(spec.env ?? environment) },
        },
        inherited: [],
        workspace: this.workdir,
        openFiles: meta.limits.openFiles,
        processes: meta.limits.processes,
        processors: this.#input.made?.processors ?? [],
        ...(!isOwn && { runBeside: (script) => this.#signal(script) }),
        onEnd: (one) => this.#processes.delete(one),
      },
      options,
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
