import { setTimeout as delay } from 'node:timers/promises';
import {
  type Assurance,
  type CallOptions,
  LitterboxError,
  missingControls,
  parseProviderKey,
  LOCAL_HOST,
  type ProbeCheck,
  type ProbeReport,
  type ProgressOptions,
  type ProviderMachine,
  type ProviderTraits,
  type RemoveOptions,
  type RuntimeStatus,
  type SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
  decodeRaw,
  isLitterboxError,
  LIMIT_KEYS,
} from '@litterbox/core/provider';
import { allowedProcessors, chooseProcessors, describeDirectory } from '@litterbox/linux-sandbox';
import { brokenDescription, cannotHonour, notHere, sortEnvironment } from '@litterbox/sandbox-kit';
import { KubeApi } from './kube-api.ts';
import { missingRights } from './missing-rights.ts';
import { ANNOTATIONS, type MadePod, type PodMeta, type PodState } from './pod-meta.ts';
import { PodRuntime } from './pod-runtime.ts';
import { userOf } from './pod-spec.ts';
import { Pods } from './pods.ts';

/** The kind in keys of this provider: what follows an @ is a context of the user's kubeconfig, not a machine. */
export const KUBERNETES = 'kubernetes';

/** How long a network plugin may take to shut a new pod in. */
const ENFORCED_MS = 5_000;
const LOOK_AGAIN_MS = 250;

const TRAITS: ProviderTraits = {
  isolation: 'container',
  limits: ['memoryBytes', 'cpus', 'processes', 'openFiles'],
  workdir: '/src',
  roots: ['image'],
  network: 'filtered',
  keeps: 'nothing',
};

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

  constructor(name: string, api: KubeApi, host: ProviderMachine['host'], directory: string) {
    this.name = name;
    this.#api = api;
    this.#pods = new Pods(name, api);
    this.#host = host;
    this.#directory = directory;
  }

  async probe(options?: CallOptions): Promise<ProbeReport> {
    const checks: ProbeCheck[] = [];
    try {
      const { name, namespace } = await this.#api.context();
      checks.push({ name: 'kubeconfig', status: 'ok', finding: `context ${name}, namespace ${namespace}` });
      const version = (await this.#api.ask('provider.probe', '/version', { ...options })) as { gitVersion?: unknown };
      checks.push({ name: 'cluster', status: 'ok', finding: `Kubernetes ${String(version?.gitVersion).slice(0, 60)}` });
      checks.push(await missingRights(this.#api, namespace, options));
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
    await this.#host.files.makeDirectory(this.#directory, { mode: 0o700 });
    let runtime: PodRuntime | undefined;
    try {
      const { node } = await this.#pods.create(meta, options);
      runtime = this.#runtime(meta);
      // Beside each other: none needs what another finds, and nothing of an agent's runs yet.
      const [processors, image] = await Promise.all([
        this.#chooseProcessors(runtime, meta, node, options),
        imageEnvironment(runtime, options),
        fill(runtime, spec, options),
        this.#assertControls(runtime, meta, options),
      ]);
      const made: MadePod = { processors, imageEnvironment: image, firstMark: await runtime.mark(options) };
      await this.#pods.annotate(meta.id, { [ANNOTATIONS.made]: JSON.stringify(made) }, options);
      await runtime[Symbol.asyncDispose]();
      return this.#runtime(meta, made);
    } catch (error) {
      await runtime?.[Symbol.asyncDispose]();
      if (!isLitterboxError(error, 'ALREADY_EXISTS')) await this.#pods.remove(meta.id).catch(() => {});
      options?.signal?.throwIfAborted();
      throw error;
    }
  }

  async open(id: SandboxId, options?: CallOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    await this.#host.files.makeDirectory(this.#directory, { mode: 0o700 });
    const state = await this.#pods.find(id, options);
    if (!state) throw notHere(this.name, id);
    if (stateOf(state) === 'broken' || !state.meta || !state.made)
      throw brokenDescription(`pod litterbox-${id}`, this.name, 'the cluster');
    return this.#runtime(state.meta, state.made);
  }

  async *list(options?: CallOptions): AsyncIterable<RuntimeStatus> {
    options?.signal?.throwIfAborted();
    for await (const state of this.#pods.list(options)) yield { id: state.id, state: stateOf(state) };
  }

  async remove(id: SandboxId, options?: RemoveOptions): Promise<void> {
    options?.signal?.throwIfAborted();
    await this.#pods.remove(id, options);
    await this.#host.files.remove(this.#stateFile(id)).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#api.close();
  }

  #describe(spec: SandboxSpec): PodMeta {
    const { root, limits, strategy, playground, id, isInstaller, isPooled, copyOf, artefacts, live } = spec;
    if (root.type !== 'image')
      throw cannotHonour(this.name, `a root that is a ${root.type}`, 'Name an image: container.base-image.');
    for (const name of ['diskBytes', 'diskBytesPerSecond'] as const)
      if (limits[name] !== undefined)
        throw cannotHonour(this.name, LIMIT_KEYS[name], 'Leave it out, or use a provider that can enforce it.');
    if (strategy !== undefined)
      throw cannotHonour(this.name, `the strategy ${strategy}`, 'Leave it out: there is nothing to choose.');
    if (playground !== id)
      throw cannotHonour(
        this.name,
        'a playground that several sandboxes share',
        'Leave it out, or use another provider.',
      );
    for (const [what, asked] of Object.entries({ isInstaller, isPooled, copyOf, artefacts, live }))
      if (asked) throw cannotHonour(this.name, what, 'Leave it out, or use another provider.');
    return { ...describeDirectory(spec), image: root.reference, user: userOf(id) };
  }

  #runtime(meta: PodMeta, made?: MadePod): PodRuntime {
    return new PodRuntime({
      api: this.#api,
      pods: this.#pods,
      host: this.#host,
      stateFile: this.#stateFile(meta.id),
      meta,
      ...(made && { made }),
    });
  }

  /** Those of the node that the fewest other sandboxes have: the limit of a pod leaves programs to see all of them. */
  async #chooseProcessors(
    runtime: PodRuntime,
    { id, limits }: PodMeta,
    node: string,
    options?: CallOptions,
  ): Promise<readonly number[]> {
    const taken: (readonly number[])[] = [];
    const listing = async () => {
      for await (const other of this.#pods.list(options))
        if (other.id !== id && other.node === node) taken.push(other.made?.processors ?? []);
    };
    const [status] = await Promise.all([textOf(runtime, '/proc/self/status', options), listing()]);
    return chooseProcessors(allowedProcessors(status), limits.cpus, taken);
  }

  #stateFile(id: SandboxId): string {
    return `${this.#directory}/${id}.json`;
  }

  /** A network plugin may be a moment late with the policy of a pod that is new. Nothing of an agent's runs before it is there. */
  async #assertControls(runtime: PodRuntime, meta: PodMeta, options?: CallOptions): Promise<void> {
    const begun = performance.now();
    let assurance = await runtime.assurance(options);
    while (isOpen(assurance) && performance.now() - begun < ENFORCED_MS) {
      await delay(LOOK_AGAIN_MS, undefined, { signal: options?.signal });
      assurance = await runtime.assurance(options);
    }
    // A person who allows a sandbox without some control has not meant a network to everywhere: that is never handed out.
    const missing = missingControls(assurance).filter(({ name }) => name === 'network' || !meta.allowDegraded);
    if (missing.length === 0) return;
    throw new LitterboxError(
      'DEGRADED',
      `The sandbox would run without: ${missing.map(({ name, finding }) => `${name} (${finding})`).join('; ')}.`,
      {
        operation: 'provider.create',
        provider: this.name,
        hint: missing.some(({ name }) => name === 'network')
          ? missing.find(({ name }) => name === 'network')?.remedy
          : `${missing[0]?.remedy ?? ''} To go on without it: --allow-degraded.`,
        facts: { missing: missing.map(({ name }) => name) },
      },
    );
  }
}

const isOpen = ({ controls }: Assurance) =>
  controls.some(({ name, status }) => name === 'network' && status === 'absent');

/** A pod that was not finished is nobody's: whoever made it was killed. */
function stateOf({ isOver, meta, made, isStopped }: PodState): RuntimeStatus['state'] {
  if (isOver || !meta || !made) return 'broken';
  return isStopped ? 'stopped' : 'running';
}

/** Unpacks the base, whose files are older than all that follows. */
async function fill(runtime: PodRuntime, { workspace, workdir }: SandboxSpec, options?: CallOptions): Promise<void> {
  await using tar = await runtime.spawn(
    { argv: ['/bin/sh', '-c', 'umask 022; exec tar -xpf - -C "$1"', 'sh', workdir], stdin: 'pipe', cwd: '/' },
    options,
  );
  let output = '';
  const reading = (async () => {
    for await (const { bytes } of tar) output = (output + decodeRaw(bytes)).slice(-500);
  })();
  for await (const chunk of workspace.open(options) as unknown as AsyncIterable<Uint8Array>) await tar.write(chunk);
  await tar.closeStdin();
  await reading;
  const { code } = await tar.exit;
  if (code === 0) return;
  throw new LitterboxError(
    'UNAVAILABLE',
    `The workspace could not be unpacked in the pod: ${output.trim() || `tar ended with ${code}`}.`,
    {
      operation: 'provider.create',
      hint: 'The image needs tar, and the node room for the files.',
    },
  );
}

/** Longest text of a file of the kernel that is read. */
const MAX_TEXT_CHARACTERS = 2 ** 17;
/** Variables of the cluster and of the shell of process 1, beside those of the image. */
const NOT_OF_IMAGE = /^(KUBERNETES_|(HOSTNAME|HOME|PWD|SHLVL|_)=)/;

/** The environment of process 1: it is the image's, read before anything of an agent ran. */
async function imageEnvironment(runtime: PodRuntime, options?: CallOptions): Promise<Readonly<Record<string, string>>> {
  const entries = (await textOf(runtime, '/proc/1/environ', options)).split('\0');
  return sortEnvironment(entries.filter((entry) => entry.includes('=') && !NOT_OF_IMAGE.test(entry))).environment;
}

async function textOf(runtime: PodRuntime, path: string, options?: CallOptions): Promise<string> {
  await using cat = await runtime.spawn({ argv: ['cat', path], cwd: '/' }, options);
  let text = '';
  for await (const { bytes, type } of cat)
    if (type === 'stdout-data' && text.length < MAX_TEXT_CHARACTERS) text += decodeRaw(bytes);
  return text;
}
