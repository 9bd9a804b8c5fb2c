import {
  alreadyThere,
  type CallOptions,
  CAN_MAKE_DISKS,
  cannotHonour,
  DISK_REMEDY,
  type Host,
  isLitterboxError,
  LitterboxError,
  ownNames,
  makeDisk,
  type ProbeReport,
  type ProviderTraits,
  type ProgressOptions,
  quoted,
  readDescription,
  REMOVE_TREE,
  type RemoveOptions,
  type RuntimeStatus,
  runScript,
  runScriptOrFail,
  SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
  type SetupStore,
  ensureBaseTree,
  makeUnfinished,
  sweepUnfinished,
  UNFINISHED,
} from '@litterbox/core/provider';
import { Containers } from './containers.ts';
import { ContainerRuntime } from './container-runtime.ts';
import { Engine } from './engine.ts';
import { type EngineFacts, readEngine } from './engine-facts.ts';
import type { EngineFlavour } from './engine-flavour.ts';
import { Images } from './images.ts';
import { KeptSetups } from './kept-setups.ts';
import { diskImage, diskOf, layersOf, type Layout, layoutOf, sandboxLayoutOf } from './layout.ts';
import type { SandboxMeta } from './sandbox-meta.ts';

/** What the provider of one engine is made of. */
export interface ContainerProviderInput {
  readonly host: Host;
  /** Absolute directory on the host, the provider's own, mode 0700, for base trees, layers and playgrounds. */
  readonly directory: string;
  readonly flavour: EngineFlavour;
}

const DEFAULT_LIMITS = { memoryBytes: 4 * 2 ** 30, cpus: 2, processes: 512, openFiles: 4096 };
/** Of sandboxes that root makes: no user of the machine has it. */
const SANDBOX_UID = 61100;
/** What the options of an overlay mount cannot carry. */
const UNMOUNTABLE = /[,:\\"'\s]/;

/** Sandboxes in containers of an engine on the same machine. Does nothing until it is asked. */
export class ContainerProvider implements SandboxProvider {
  readonly name: string;
  readonly traits: ProviderTraits;
  readonly #host: Host;
  readonly #ownInfo: string | undefined;
  readonly #layout: Layout;
  readonly #engine: Engine;
  readonly #images: Images;
  readonly #containers: Containers;
  readonly #setups: KeptSetups;
  #facts: Promise<EngineFacts> | undefined;

  constructor({ host, directory, flavour }: ContainerProviderInput) {
    this.name = flavour.provider;
    this.traits = {
      isolation: 'container',
      // A disk of its own is mounted, which takes root.
      limits: [
        'memoryBytes',
        'cpus',
        'processes',
        'openFiles',
        ...(host.isRoot === true ? (['diskBytes'] as const) : []),
      ],
      workdir: '/src',
      roots: ['image'],
    };
    this.#host = host;
    this.#ownInfo = flavour.ownInfo;
    this.#layout = layoutOf(directory);
    this.#engine = new Engine({
      ...flavour,
      host,
      findSocket: async (call) => await flavour.findSocket(host, this.#layout, call),
    });
    this.#images = new Images(this.#engine);
    this.#containers = new Containers({
      engine: this.#engine,
      host,
      layout: this.#layout,
      flavour,
      facts: (call) => this.#survey(call),
    });
    this.#setups = new KeptSetups(this.name, host, this.#layout, this.#containers);
  }

  get setups(): SetupStore {
    return this.#setups;
  }

  async probe(call?: CallOptions): Promise<ProbeReport> {
    this.#facts = undefined;
    this.#engine.forget();
    try {
      const { checks } = await this.#survey(call);
      return { usable: checks.every(({ status }) => status !== 'failed'), checks };
    } catch (error) {
      call?.signal?.throwIfAborted();
      if (!(error instanceof LitterboxError)) throw error;
      const remedy = error.details.hint ?? `Start ${this.#engine.title}.`;
      return { usable: false, checks: [{ name: 'engine', status: 'failed', finding: error.message, remedy }] };
    }
  }

  async create(spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    const facts = await this.#survey(options);
    this.#assertSupported(spec);
    if (spec.limits.diskBytes !== undefined) await this.#assertDisk(spec, facts, options);
    const sandbox = sandboxLayoutOf(this.#layout, spec.id);
    if (await this.#host.files.stat(sandbox.directory, options)) throw alreadyThere(this.name, spec.id);
    await this.#makeDirectories(options);
    const user = await this.#user();
    const { uid: ownUid } = await this.#host.facts();
    const owner = ownUid === 0 ? { owner: user } : {};
    const [image] = await Promise.all([
      this.#images.get(spec.root.type === 'image' ? spec.root.reference : '', facts, options),
      ensureBaseTree({ host: this.#host, bases: this.#layout.bases, ...owner }, spec.workspace, options),
    ]);
    const meta: SandboxMeta = {
      version: 1,
      id: spec.id,
      slug: spec.slug,
      repositoryId: spec.repositoryId,
      base: spec.workspace.key,
      workdir: spec.workdir,
      image: spec.root.type === 'image' ? spec.root.reference : '',
      imageId: image.id,
      imageEnvironment: image.environment,
      hostileNames: image.hostileNames,
      imageVolumes: image.volumes,
      user,
      environment: spec.environment,
      limits: { ...DEFAULT_LIMITS, ...spec.limits },
      playground: spec.playground,
      allowDegraded: spec.allowDegraded,
      ...(await this.#setups.find(image.id, spec.prepared ?? [], options)),
    };
    await this.#prepare(meta, options);
    const runtime = this.#runtime(meta);
    try {
      options?.signal?.throwIfAborted();
      await this.#containers.create(meta, options);
      await this.#containers.assertControls(meta, options);
      options?.signal?.throwIfAborted();
      return runtime;
    } catch (error) {
      await runtime[Symbol.asyncDispose]();
      await this.remove(spec.id);
      options?.signal?.throwIfAborted();
      throw error;
    }
  }

  async open(id: SandboxId, call?: CallOptions): Promise<SandboxRuntime> {
    const sandbox = sandboxLayoutOf(this.#layout, id);
    return this.#runtime(await readDescription<SandboxMeta>(this.#host, sandbox, this.name, id, call));
  }

  async *list(call?: CallOptions): AsyncGenerator<RuntimeStatus, void, undefined> {
    for (const { name } of (await this.#host.files.list(this.#layout.sandboxes, call)) ?? []) {
      if (!SandboxId.is(name)) continue;
      const sandbox = sandboxLayoutOf(this.#layout, name);
      const [meta, paused, stopped] = await Promise.all(
        [sandbox.meta, sandbox.pausedMark, sandbox.stoppedMark].map((path) => this.#host.files.stat(path, call)),
      );
      yield { id: name, state: meta === undefined ? 'broken' : paused ? 'paused' : stopped ? 'stopped' : 'running' };
    }
  }

  async remove(id: SandboxId, call?: RemoveOptions): Promise<void> {
    call?.signal?.throwIfAborted();
    const { directory, meta } = sandboxLayoutOf(this.#layout, id);
    const gone = `${this.#layout.sandboxes}/${UNFINISHED}${id}`;
    const own = call?.keepPlayground
      ? ''
      : ` && remove_tree ${quoted(`${this.#layout.playgrounds}/${id}`)} && rm -f ${quoted(diskImage(this.#layout, id))}`;
    // The directory is made before the container and goes after it: without one, the engine has nothing of it and need not even run.
    const isThere = await Promise.all([directory, gone].map((path) => this.#host.files.stat(path)));
    if (isThere.some(Boolean)) {
      // First what a container is made from: whoever makes one at this moment finds that it is gone, and takes it away again.
      await this.#host.files.remove(meta);
      await this.#containers.remove(id, call);
    }
    // Renamed first: from then on it is in no list, and a removal that was killed half-way is finished by the next sweep.
    const script = `${REMOVE_TREE}[ ! -d ${quoted(directory)} ] || mv -T ${quoted(directory)} ${quoted(gone)} || [ ! -d ${quoted(directory)} ] || exit 1
remove_tree ${quoted(gone)}${own} || exit 1
${sweepUnfinished(this.#layout.sandboxes)}
${sweepUnfinished(this.#layout.bases)}
${sweepUnfinished(this.#layout.setups)}`;
    await runScriptOrFail(this.#host, 'provider.remove', script);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #assertSupported({ root, limits, workdir, strategy }: SandboxSpec): void {
    if (strategy !== undefined)
      throw cannotHonour(this.name, `the strategy ${strategy}`, 'Leave it out: the engine copies as it can.');
    if (root.type !== 'image')
      throw cannotHonour(
        this.name,
        root.type === 'machine' ? "the machine's own programs" : `the directory ${root.path}`,
        'Name an image: container.base-image.',
      );
    for (const name of ['diskBytes', 'diskBytesPerSecond'] as const) {
      if (limits[name] !== undefined && !this.traits.limits.includes(name))
        throw cannotHonour(this.name, `the limit ${name}`, 'Leave it out, or use a provider that can enforce it.');
    }
    if (/^\/(usr|bin|sbin|lib|lib64|etc|run|tmp|dev|proc|sys)(\/|$)/.test(workdir))
      throw cannotHonour(this.name, `the workdir ${workdir} in an image`, 'Set workspace.workdir to /src.');
    if (UNMOUNTABLE.test(this.#layout.root))
      throw cannotHonour(
        this.name,
        `a state directory with commas, colons, quotes or spaces in its name (${this.#layout.root})`,
        'Set LITTERBOX_HOME to another directory.',
      );
  }

  /** As for namespaces: one disk for all a sandbox writes, mounted by who is root where the engine's containers are made. */
  async #assertDisk({ id, playground }: SandboxSpec, { isRootless }: EngineFacts, call?: CallOptions): Promise<void> {
    const refused = (what: string, hint: string) => cannotHonour(this.name, `the limit diskBytes ${what}`, hint);
    if (playground !== id)
      throw refused(
        'with a playground that several sandboxes share',
        'Set playground.scope to sandbox, or leave the limit out.',
      );
    if (isRootless) throw refused('with a rootless engine', 'Use the rootful engine, or leave the limit out.');
    const { code } = await runScript(this.#host, `${CAN_MAKE_DISKS} && command -v mountpoint flock`, call);
    if (code !== 0) throw refused('on this machine', `${DISK_REMEDY}, or leave the limit out.`);
  }

  async #makeDirectories(call?: CallOptions): Promise<void> {
    const { root, bases, sandboxes, playgrounds, disks } = this.#layout;
    for (const directory of [root, bases, sandboxes, playgrounds, disks])
      await this.#host.files.makeDirectory(directory, { ...call, mode: 0o700 });
  }

  /** Root gives sandboxes a user that nobody is; everybody else has none to give but their own. */
  async #user(): Promise<{ readonly uid: number; readonly gid: number }> {
    const { uid, gid } = await this.#host.facts();
    return uid === 0 ? { uid: SANDBOX_UID, gid: SANDBOX_UID } : { uid, gid };
  }

  /** The sandbox's directory, complete before it gets its name. */
  async #prepare(meta: SandboxMeta, call?: CallOptions): Promise<void> {
    const { directory } = sandboxLayoutOf(this.#layout, meta.id);
    const name = `${UNFINISHED}${crypto.randomUUID()}`;
    const unfinished = `${this.#layout.sandboxes}/${name}`;
    const playground = `${this.#layout.playgrounds}/${meta.playground}`;
    const owner = `${meta.user.uid}:${meta.user.gid}`;
    const names = Object.entries(ownNames(meta.user)).map(([file, text]) => `printf %s ${quoted(text)} >names/${file}`);
    const disk = diskOf(this.#layout, meta);
    const layers = disk
      ? `set -e
${makeDisk(disk)}`
      : `mkdir home upper work${meta.prepared === undefined ? '' : ' home-work'} ${quoted(playground)} 2>/dev/null
set -e
[ -d home ] && [ -d upper ] && [ -d ${quoted(playground)} ]
[ "$(stat -c %u:%g home)" = ${owner} ] || chown ${owner} home upper ${quoted(playground)}
`;
    const script = `umask 022
${makeUnfinished(this.#layout.sandboxes, name)} || exit 1
trap 'cd /; rm -rf ${quoted(unfinished)}' EXIT
mkdir names
${layers}${names.join('\n')}
printf %s ${quoted(JSON.stringify(meta))} >meta.json
mv -T ${quoted(unfinished)} ${quoted(directory)}
trap - EXIT`;
    try {
      await runScriptOrFail(this.#host, 'provider.create', script, call);
    } catch (error) {
      if (!isLitterboxError(error, 'DISK_FULL') && (await this.#host.files.stat(`${directory}/meta.json`)))
        throw alreadyThere(this.name, meta.id);
      throw error;
    }
  }

  #runtime(meta: SandboxMeta): ContainerRuntime {
    return new ContainerRuntime({
      engine: this.#engine,
      host: this.#host,
      containers: this.#containers,
      sandbox: sandboxLayoutOf(this.#layout, meta.id),
      layers: layersOf(this.#layout, meta),
      meta,
    });
  }

  /** One look per process, as long as it succeeds; `probe` looks anew. */
  #survey(call?: CallOptions): Promise<EngineFacts> {
    this.#facts ??= readEngine(this.#engine, { host: this.#host, ownInfo: this.#ownInfo }, call).catch(
      (error: unknown) => {
        this.#facts = undefined;
        this.#engine.forget();
        throw error;
      },
    );
    return this.#facts;
  }
}
