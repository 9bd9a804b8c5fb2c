import {
  type CallOptions,
  parseProviderKey,
  LOCAL_HOST,
  type ProbeCheck,
  type ProbeReport,
  type ProgressOptions,
  type ProviderMachine,
  type RemoveOptions,
  type RuntimeStatus,
  type SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
  isLitterboxError,
  INSIDE,
  LIMIT_KEYS,
} from '@litterbox/core/provider';
import { allowedProcessors, chooseProcessors, describeDirectory } from '@litterbox/linux-sandbox';
import { brokenDescription, cannotHonour, notHere } from '@litterbox/sandbox-kit';
import { apiAddress, KubeApi } from './api/kube-api.ts';
import { SandboxPlaces } from './api/sandbox-places.ts';
import { assertFromPool } from './agent-sandbox/assert-from-pool.ts';
import { isMaker, poolOf } from './agent-sandbox/makers.ts';
import { agentSandboxCheck } from './agent-sandbox/agent-sandbox-check.ts';
import { missingRights, RIGHTS } from './missing-rights.ts';
import { assuranceOf } from './pod-assurance.ts';
import { ANNOTATIONS, type MadePod, type PodMeta, type PodState } from './pod-meta.ts';
import { PodRuntime } from './pod-runtime.ts';
import { othersPolicies } from './others-policies.ts';
import { POOL_USER, userOf } from './pod-spec.ts';
import { Pods } from './pods.ts';
import { podGone } from './pod-failures.ts';
import { TRAITS } from './traits.ts';

/** The kind in keys of this provider: what follows an @ is a context of the user's kubeconfig, not a machine. */
export const KUBERNETES = 'kubernetes';

/** Sandboxes in pods of a Kubernetes cluster that the user's kubeconfig reaches. Does nothing until it is asked. */
export function kubernetes({ key = KUBERNETES, host, directory }: ProviderMachine): SandboxProvider {
  const { host: context } = parseProviderKey(key);
  const api = new KubeApi({
    provider: key,
    environment: host.environment,
    homeDirectory: host.environment['HOME'] ?? '/',
    context: context === LOCAL_HOST ? undefined : context,
  });
  return new KubernetesProvider(key, api, host, `${directory}/${KUBERNETES}/${context}`);
}

class KubernetesProvider implements SandboxProvider {
  readonly name: string;
  readonly traits = TRAITS;
  readonly #api: KubeApi;
  readonly #pods: Pods;
  readonly #host: ProviderMachine['host'];
  readonly #directory: string;
  readonly #places: SandboxPlaces;

  constructor(name: string, api: KubeApi, host: ProviderMachine['host'], directory: string) {
    this.name = name;
    this.#api = api;
    this.#pods = new Pods(name, api);
    this.#host = host;
    this.#directory = directory;
    this.#places = new SandboxPlaces(name, host, `${directory}/places`, () => api.context());
  }

  async probe(options?: CallOptions): Promise<ProbeReport> {
    const checks: ProbeCheck[] = [];
    try {
      const { name, namespace } = await this.#api.context();
      checks.push({ name: 'kubeconfig', status: 'ok', finding: `context ${name}, namespace ${namespace}` });
      const version = (await this.#api.ask('provider.probe', '/version', { ...options })) as { gitVersion?: unknown };
      checks.push({ name: 'cluster', status: 'ok', finding: `Kubernetes ${String(version?.gitVersion).slice(0, 60)}` });
      const rights = await missingRights(this.#api, namespace, RIGHTS, options);
      // A right is granted in a namespace that is not there, too.
      if (rights.status === 'ok') await this.#pods.tryOut(options);
      checks.push(rights, await agentSandboxCheck(this.#api, namespace, options));
    } catch (error) {
      options?.signal?.throwIfAborted();
      if (!isLitterboxError(error)) throw error;
      const { hint } = error.details;
      checks.push({
        name: checks.length === 0 ? 'kubeconfig' : 'cluster',
        status: 'failed',
        finding: error.message,
        remedy: hint ?? 'Check the kubeconfig.',
        ...(checks.length === 0 && isLitterboxError(error, 'UNAVAILABLE') && { isAbsent: true }),
      });
    }
    return { usable: checks.every(({ status }) => status !== 'failed'), checks };
  }

  async create(spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    const meta = this.#describe(spec);
    await this.#places.note(meta.id, options);
    let runtime: PodRuntime | undefined;
    try {
      const addresses = [await apiAddress(this.#api)];
      const asked = await this.#pods.create(meta, addresses, options);
      const running = this.#pods.running(meta.id, asked, options);
      running.catch(() => {}); // who waits for it hears of it
      runtime = this.#runtime(meta, asked.name);
      // A pod of a pool runs already, and nobody knows yet that it is ours.
      if (poolOf(meta.maker) !== undefined) await running;
      const [{ facts, imageEnvironment, hasPerl, mark }, taken, state] = await Promise.all([
        runtime.begin(spec, addresses, running, options),
        running.then(({ node }) => this.#taken(meta.id, node, options)),
        running,
      ]);
      assertFromPool(this.name, meta, state);
      const found = assuranceOf(this.name, meta, state, facts, await othersPolicies(this.#api, state, options));
      const assurance = await runtime.assertControls(found, options);
      if (meta.maker && meta.limits.diskBytes !== undefined) await this.#pods.judge(asked.name, options);
      const notes: MadePod = {
        processors: chooseProcessors(allowedProcessors(facts), meta.limits.cpus, taken),
        imageEnvironment,
        ...(hasPerl && { hasPorts: true }),
        firstMark: mark ?? (await runtime.mark(options)),
      };
      const made = { [ANNOTATIONS.made]: JSON.stringify(notes), ...(meta.maker && { [ANNOTATIONS.judged]: 'yes' }) };
      await this.#pods.annotate(meta, asked.name, made, options);
      runtime.finish(notes, assurance);
      return runtime;
    } catch (error) {
      await runtime?.[Symbol.asyncDispose]();
      if (!isLitterboxError(error, 'ALREADY_EXISTS')) await this.remove(meta.id).catch(() => {});
      options?.signal?.throwIfAborted();
      throw error;
    }
  }

  async open(id: SandboxId, options?: CallOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    await this.#host.files.makeDirectory(this.#directory, { mode: 0o700 });
    const state = await this.#pods.find(id, options);
    if (!state) {
      await this.#places.assertHere(id, options);
      throw notHere(this.name, id);
    }
    if (state.isOver) throw podGone(this.name, id);
    if (!state.meta || !state.made) throw brokenDescription(`pod litterbox-${id}`, this.name, 'the cluster');
    return this.#runtime(state.meta, state.name, state.made);
  }

  async *list(options?: CallOptions): AsyncIterable<RuntimeStatus> {
    options?.signal?.throwIfAborted();
    const seen = new Set<SandboxId>();
    for await (const state of this.#pods.list(options)) {
      seen.add(state.id);
      yield { id: state.id, state: stateOf(state) };
    }
    for await (const id of this.#places.elsewhere(seen, options)) yield { id, state: 'unreachable' };
  }

  async remove(id: SandboxId, options?: RemoveOptions): Promise<void> {
    options?.signal?.throwIfAborted();
    await this.#places.assertHere(id, options, async () => (await this.#pods.find(id, options)) !== undefined);
    await this.#pods.remove(id, options);
    await this.#host.files.remove(this.#stateFile(id)).catch(() => {});
    await this.#places.forget(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#api.close();
  }

  #describe(spec: SandboxSpec): PodMeta {
    const { root, limits, strategy, playground, id, isInstaller, copyOf, artefacts, live } = spec;
    if (root.type !== 'image')
      throw cannotHonour(this.name, `a root that is a ${root.type}`, 'Name an image: container.base-image.');
    if (limits.diskBytesPerSecond !== undefined)
      throw cannotHonour(
        this.name,
        LIMIT_KEYS.diskBytesPerSecond,
        'Leave it out, or use a provider that can enforce it.',
      );
    if (strategy !== undefined && !isMaker(strategy))
      throw cannotHonour(
        this.name,
        `the strategy ${strategy}`,
        'Choose agent-sandbox, warm-pool/NAME, or leave it out.',
      );
    const isOfPool = poolOf(strategy) !== undefined;
    if (isOfPool && limits.diskBytes !== undefined)
      throw cannotHonour(
        this.name,
        `${LIMIT_KEYS.diskBytes} in a pool`,
        'Leave it out: pods of a pool run before their volume is known.',
      );
    if (isOfPool && spec.workdir !== INSIDE.alias)
      throw cannotHonour(
        this.name,
        `the workdir ${spec.workdir} in a pool`,
        `Leave workspace.workdir out: it is ${INSIDE.alias} there.`,
      );
    if (playground !== id)
      throw cannotHonour(
        this.name,
        'a playground that several sandboxes share',
        'Leave it out, or use another provider.',
      );
    for (const [what, asked] of Object.entries({ isInstaller, copyOf, artefacts, live }))
      if (asked) throw cannotHonour(this.name, what, 'Leave it out, or use another provider.');
    return {
      ...describeDirectory(spec),
      image: root.reference,
      user: isOfPool ? POOL_USER : userOf(id),
      ...(strategy !== undefined && { maker: strategy }),
    };
  }

  #runtime(meta: PodMeta, name: string, made?: MadePod): PodRuntime {
    return new PodRuntime({
      api: this.#api,
      pods: this.#pods,
      host: this.#host,
      stateFile: this.#stateFile(meta.id),
      meta,
      name,
      ...(made && { made }),
    });
  }

  /** Processors that sandboxes of the same node are bound to. */
  async #taken(id: SandboxId, node: string, options?: CallOptions): Promise<readonly (readonly number[])[]> {
    const taken: (readonly number[])[] = [];
    for await (const other of this.#pods.neighbours(node, options))
      if (other.id !== id) taken.push(other.made?.processors ?? []);
    return taken;
  }

  #stateFile(id: SandboxId): string {
    return `${this.#directory}/${id}.json`;
  }
}

/** A pod that was not finished is nobody's: whoever made it was killed. */
function stateOf({ isOver, meta, made, isStopped }: PodState): RuntimeStatus['state'] {
  if (isOver || !meta || !made) return 'broken';
  return isStopped ? 'stopped' : 'running';
}
