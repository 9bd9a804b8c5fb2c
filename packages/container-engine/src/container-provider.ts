import { setTimeout as delay } from 'node:timers/promises';
import { alreadyThere, cannotHonour, ownNames, assertClaimable, unlike } from '@litterbox/sandbox-kit';
import {
  ASK_BEFORE_NAME,
  type BaseTreesInput,
  CAN_MAKE_DISKS,
  confinedCopy,
  copyDisk,
  copyTree,
  DISK_REMEDY,
  LayerSnapshots,
  makeDisk,
  pooledMark,
  readDescription,
  REMOVE_TREE,
  runScript,
  runScriptOrFail,
  ensureBaseTree,
  ensureNewerFiles,
  makeUnfinished,
  sweepUnfinished,
  takeMark,
  UNFINISHED,
} from '@litterbox/linux-sandbox';
import {
  type CallOptions,
  type Host,
  isLitterboxError,
  LitterboxError,
  type ImageStore,
  type ProbeReport,
  type ProviderTraits,
  type ProgressOptions,
  quoted,
  reach,
  type RemoveOptions,
  type RuntimeStatus,
  SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
  type SetupStore,
  type SnapshotProvider,
  meetsOwnPlaces,
} from '@litterbox/core/provider';
import { Containers } from './containers.ts';
import { ContainerRuntime } from './container-runtime.ts';
import { copyStill, type CopyStillInput } from './copy-still.ts';
import { Engine } from './engine.ts';
import type { EngineFacts, EngineSurvey } from './engine-facts.ts';
import type { EngineFlavour } from './engine-flavour.ts';
import { Images } from './images.ts';
import { InstalledImages } from './installed-images.ts';
import { KeptSetups } from './kept-setups.ts';
import { forgetEngine, knownEngine } from './known-engines.ts';
import { LOOK_AGAIN_MS } from './late-word.ts';
import { diskImage, diskOf, layersOf, type Layout, layoutOf, sandboxLayoutOf, setupDirectory } from './layout.ts';
import type { SandboxMeta } from './sandbox-meta.ts';

/** What the provider of one engine is made of. */
export interface ContainerProviderInput {
  readonly host: Host;
  /** Programs run as root there: disks of sandboxes can be mounted. */
  readonly isRoot: boolean;
  /** Absolute directory on the host, the provider's own, mode 0700, for base trees, layers and playgrounds. */
  readonly directory: string;
  readonly flavour: EngineFlavour;
  /** @defaultValue found on the host */
  readonly engine?: Engine;
  /** The host is a container of the engine's own. @defaultValue false */
  readonly isConfined?: boolean;
}

const DEFAULT_LIMITS = { memoryBytes: 4 * 2 ** 30, cpus: 2, processes: 512, openFiles: 4096 };
/** Of sandboxes that root makes: no user of the machine has it. */
const SANDBOX_UID = 61100;
/** How long an engine may take to make what a program asked for that has ended: tens of milliseconds, hundreds on a busy machine. */
const LATECOMERS_MS = 1_000;
/** What the options of an overlay mount cannot carry. */
const UNMOUNTABLE = /[,:\\"'\s]/;

/** Sandboxes in containers of an engine on the same machine. Does nothing until it is asked. */
export class ContainerProvider implements SandboxProvider {
  readonly name: string;
  readonly traits: ProviderTraits;
  readonly #host: Host;
  readonly #isConfined: boolean;
  readonly #look: EngineSurvey;
  readonly #layout: Layout;
  readonly #engine: Engine;
  readonly #images: Images;
  readonly #containers: Containers;
  readonly #setups: KeptSetups;
  readonly #installed: InstalledImages;
  readonly #snapshots: LayerSnapshots<SandboxMeta>;

  constructor({ host, isRoot, directory, flavour, engine, isConfined = false }: ContainerProviderInput) {
    this.#isConfined = isConfined;
    this.name = flavour.provider;
    this.traits = {
      isolation: 'container',
      // A disk of its own is mounted, which takes root.
      limits: ['memoryBytes', 'cpus', 'processes', 'openFiles', ...(isRoot ? (['diskBytes'] as const) : [])],
      workdir: '/src',
      roots: ['image'],
      canCopy: true,
      snapshotCost: 'copied',
    };
    this.#host = host;
    this.#layout = layoutOf(directory);
    this.#look = {
      host,
      ownInfo: flavour.ownInfo,
      ...(flavour.believedMs && { memory: { file: this.#layout.engine, forMs: flavour.believedMs } }),
    };
    this.#engine =
      engine ??
      new Engine({
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
      isBelowEngine: isConfined,
    });
    this.#setups = new KeptSetups(this.name, host, this.#layout, this.#containers);
    this.#installed = new InstalledImages({
      engine: this.#engine,
      images: this.#images,
      containers: this.#containers,
      host,
      layout: this.#layout,
    });
    this.#snapshots = new LayerSnapshots<SandboxMeta>({
      provider: this.name,
      host,
      root: this.#layout.root,
      directoryOf: (id) => sandboxLayoutOf(this.#layout, id).directory,
      layersOf: () => ['upper', 'home'],
      assertCopyable: async (call) => this.#assertCopyable(await this.#survey(call)),
      isRoot: async () => (await host.facts()).uid === 0,
      still: async (meta, script, call) => await copyStill(this.#copier('snapshot.take'), meta, script, call),
      ended: async ({ id }, script) => {
        await this.#containers.remove(id); // it is made again, on the layers of then, when the sandbox is used
        await runScriptOrFail(host, 'snapshot.restore', script);
      },
      restored: ({ prepared: _prepared, newer: _newer, ...meta }, kept) => {
        if (meta.imageId !== kept.imageId)
          throw cannotHonour(
            this.name,
            `a snapshot of a sandbox of the image ${kept.image} in one of ${meta.image}`,
            'Make a sandbox of that image.',
          );
        return {
          ...meta,
          base: kept.base,
          ...(kept.prepared !== undefined && { prepared: kept.prepared }),
          ...(kept.newer !== undefined && { newer: kept.newer }),
          isCopy: true,
        };
      },
    });
  }

  get setups(): SetupStore {
    return this.#setups;
  }

  get images(): ImageStore {
    return this.#installed;
  }

  get snapshots(): SnapshotProvider {
    return this.#snapshots;
  }

  /** What one look at the engine told; looks once. */
  async facts(call?: CallOptions): Promise<EngineFacts> {
    return await this.#survey(call);
  }

  async probe(call?: CallOptions): Promise<ProbeReport> {
    this.#engine.forget();
    try {
      await forgetEngine(this.#engine, this.#look, call);
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
    const sandbox = sandboxLayoutOf(this.#layout, spec.id);
    if (spec.limits.diskBytes !== undefined) await this.#assertDisk(spec, facts, options);
    if (await this.#host.files.stat(sandbox.directory, options)) throw alreadyThere(this.name, spec.id);
    const meta =
      spec.copyOf === undefined
        ? await this.#begun(spec, facts, options)
        : await this.#copied(spec, spec.copyOf, facts, options);
    reach('container.after-directory');
    const runtime = this.#runtime(meta);
    try {
      options?.signal?.throwIfAborted();
      await this.#containers.create(meta, options);
      await this.#containers.assertControls(meta, options);
      await this.#host.files.remove(sandbox.unfinishedMark);
      reach('container.after-controls');
      options?.signal?.throwIfAborted();
      return runtime;
    } catch (error) {
      await runtime[Symbol.asyncDispose]();
      // An engine that has answered makes nothing more.
      const hasAnswered = options?.signal?.aborted !== true && !isLitterboxError(error, 'UNAVAILABLE');
      if (hasAnswered) await this.#host.files.remove(sandbox.unfinishedMark);
      await this.remove(spec.id);
      options?.signal?.throwIfAborted();
      throw error;
    }
  }

  async #begun(spec: SandboxSpec, facts: EngineFacts, options?: ProgressOptions): Promise<SandboxMeta> {
    await this.#makeDirectories(options);
    const user = await this.#user();
    const { uid: ownUid } = await this.#host.facts();
    const owner = ownUid === 0 ? { owner: user } : {};
    const { reference, installed } = imageOf(spec);
    const trees = { host: this.#host, bases: this.#layout.bases, ...owner, isConfined: this.#isConfined };
    const [image] = await Promise.all([
      this.#images.get(reference, facts, options),
      ensureBaseTree(trees, spec.workspace, options),
    ]);
    const imageId = installed === undefined ? image.id : await this.#installed.get(image, installed, options);
    const meta: SandboxMeta = {
      version: 1,
      id: spec.id,
      slug: spec.slug,
      repositoryId: spec.repositoryId,
      base: spec.workspace.key,
      workdir: spec.workdir,
      image: reference,
      ...(installed !== undefined && { installed }),
      imageId,
      imageEnvironment: image.environment,
      hostileNames: image.hostileNames,
      imageVolumes: image.volumes,
      user,
      environment: spec.environment,
      limits: { ...DEFAULT_LIMITS, ...spec.limits },
      playground: spec.playground,
      allowDegraded: spec.allowDegraded,
      ...(spec.isInstaller && { isInstaller: true }),
      ...(await this.#begunWith(imageId, spec, trees, options)),
    };
    await this.#prepare(meta, spec.isPooled === true, options);
    return meta;
  }

  /** The kept setup that it stands on, with what has to be newer. */
  async #begunWith(
    imageId: string,
    { prepared: keys = [], workspace }: SandboxSpec,
    trees: BaseTreesInput,
    call?: CallOptions,
  ): Promise<Pick<SandboxMeta, 'prepared' | 'newer'>> {
    const found = await this.#setups.find(imageId, keys, call);
    if (!found) return {};
    const setup = setupDirectory(this.#layout, imageId, found.prepared);
    const more = await ensureNewerFiles(trees, workspace, setup, call);
    return more ? { ...found, ...more } : {};
  }

  /** What a copy is made of is what its source is made of; who asks for anything else is told. */
  async #copied(spec: SandboxSpec, of: SandboxId, facts: EngineFacts, call?: CallOptions): Promise<SandboxMeta> {
    const from = sandboxLayoutOf(this.#layout, of);
    const source = await readDescription<SandboxMeta>(this.#host, from, this.name, of, call);
    const { uid } = await this.#host.facts();
    const refused = (what: string) =>
      cannotHonour(this.name, `${what} in a copy of a sandbox`, 'Ask for what that one has, or make a new sandbox.');
    await this.#assertCopyable(facts);
    const { reference, installed } = imageOf(spec);
    const isOther = installed !== undefined && installed !== source.installed;
    if (reference !== source.image || isOther) throw refused('another image');
    if (spec.limits.diskBytes !== source.limits.diskBytes) throw refused('another limit diskBytes');
    const meta: SandboxMeta = {
      ...source,
      id: spec.id,
      slug: spec.slug,
      repositoryId: spec.repositoryId,
      workdir: spec.workdir,
      environment: spec.environment,
      limits: { ...source.limits, ...spec.limits },
      playground: spec.playground,
      allowDegraded: spec.allowDegraded,
      isCopy: true,
    };
    try {
      await copyStill(
        this.#copier('provider.create'),
        source,
        this.#makeScript(meta, (unfinished) => this.#copiedLayers(unfinished, source, meta, uid === 0)),
        call,
      );
    } catch (error) {
      await this.remove(meta.id); // what was copied of playground and disk
      throw error;
    }
    return meta;
  }

  /** @throws LitterboxError `UNSUPPORTED` where the kernel keeps marks of the overlay that this user cannot read. */
  async #assertCopyable({ isRootless }: EngineFacts): Promise<void> {
    if (this.#isConfined)
      throw cannotHonour(
        this.name,
        "a copy of layers on the engine's own machine, where nobody may mount",
        "Use an engine that sees this machine's files.",
      );
    const { uid } = await this.#host.facts();
    if (uid !== 0 && !isRootless)
      throw cannotHonour(
        this.name,
        'a copy of layers that a rootful engine wrote: this user cannot read all of them',
        'Run Litterbox as root, or use rootless Podman.',
      );
  }

  #copier(operation: string): CopyStillInput {
    return { operation, provider: this.name, host: this.#host, layout: this.#layout, containers: this.#containers };
  }

  async open(id: SandboxId, call?: CallOptions): Promise<SandboxRuntime> {
    const sandbox = sandboxLayoutOf(this.#layout, id);
    return this.#runtime(await readDescription<SandboxMeta>(this.#host, sandbox, this.name, id, call));
  }

  async claim(id: SandboxId, spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    const sandbox = sandboxLayoutOf(this.#layout, id);
    const made = await readDescription<SandboxMeta>(this.#host, sandbox, this.name, id, options);
    const { image: reference, installed } = made;
    assertClaimable(this.name, spec, {
      ...made,
      root: { type: 'image', reference, ...(installed !== undefined && { installed }) },
    });
    const [imageId, container] = await Promise.all([
      installed === undefined
        ? this.#images.idOf(reference, options)
        : this.#installed.idOf(reference, installed, options),
      this.#containers.waiting(made, options),
    ]);
    if (imageId !== made.imageId) throw unlike(this.name, `the image ${made.image} is another now`);
    await takeMark(this.#host, sandbox.directory, this.name, id, options);
    reach('container.after-claim-mark');
    const meta: SandboxMeta = { ...made, slug: spec.slug };
    await Promise.all([
      this.#host.files.write(sandbox.meta, new TextEncoder().encode(JSON.stringify(meta))),
      this.#containers.giveAway(container, meta, options),
    ]);
    reach('container.after-claim-thaw');
    await this.#host.files.remove(sandbox.pausedMark);
    options?.signal?.throwIfAborted();
    return this.#runtime(meta, container.id);
  }

  async *list(call?: CallOptions): AsyncGenerator<RuntimeStatus, void, undefined> {
    for (const { name } of (await this.#host.files.list(this.#layout.sandboxes, call)) ?? []) {
      if (!SandboxId.is(name)) continue;
      const sandbox = sandboxLayoutOf(this.#layout, name);
      const [meta, paused, stopped, pooled] = await Promise.all(
        [sandbox.meta, sandbox.pausedMark, sandbox.stoppedMark, pooledMark(sandbox.directory)].map((path) =>
          this.#host.files.stat(path, call),
        ),
      );
      const state = meta === undefined ? 'broken' : paused ? 'paused' : stopped ? 'stopped' : 'running';
      yield { id: name, state, ...(pooled && { isPooled: true }) };
    }
  }

  async remove(id: SandboxId, call?: RemoveOptions): Promise<void> {
    call?.signal?.throwIfAborted();
    const { directory, meta, unfinishedMark } = sandboxLayoutOf(this.#layout, id);
    const gone = `${this.#layout.sandboxes}/${UNFINISHED}${id}`;
    const own = call?.keepPlayground
      ? ''
      : ` && remove_tree ${quoted(`${this.#layout.playgrounds}/${id}`)} && rm -f ${quoted(diskImage(this.#layout, id))}`;
    // The directory is made before the container and goes after it: without one, the engine has nothing of it and need not even run.
    const isThere = await Promise.all([directory, gone].map((path) => this.#host.files.stat(path)));
    const isAny = isThere.some(Boolean);
    const isUnfinished = isAny && (await this.#host.files.stat(unfinishedMark)) !== undefined;
    if (isAny) {
      // First what a container is made from: whoever makes one at this moment finds that it is gone, and takes it away again.
      await this.#host.files.remove(meta);
      reach('container.before-remove');
      await this.#containers.remove(id, call);
    }
    // Renamed first: from then on it is in no list, and a removal that was killed half-way is finished by the next sweep.
    const script = `${REMOVE_TREE}[ ! -d ${quoted(directory)} ] || mv -T ${quoted(directory)} ${quoted(gone)} || [ ! -d ${quoted(directory)} ] || exit 1
remove_tree ${quoted(gone)}${own} || exit 1
${sweepUnfinished(this.#layout.sandboxes)}
${sweepUnfinished(this.#layout.bases)}
${sweepUnfinished(this.#layout.setups)}`;
    await runScriptOrFail(this.#host, 'provider.remove', script);
    if (isAny) await this.#sweepEngine(isUnfinished ? LATECOMERS_MS : 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#engine.forget();
  }

  /**
   * Takes away what the engine made for a program that was killed or gave up meanwhile: it finishes what it was asked for, whoever is
   * there to hear of it, so that it may come after everything else of the sandbox is gone.
   *
   * @param patienceMs for how long it may still come
   */
  async #sweepEngine(patienceMs: number): Promise<void> {
    for (const limit = performance.now() + patienceMs; ; await delay(LOOK_AGAIN_MS)) {
      for (const id of await this.#containers.known())
        if (!(await this.#host.files.stat(sandboxLayoutOf(this.#layout, id).directory)))
          await this.#containers.remove(id);
      if (performance.now() >= limit) return;
    }
  }

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
    if (/^\/(usr|bin|sbin|lib|lib64|etc|run|tmp|dev|proc|sys)(\/|$)/.test(workdir) || meetsOwnPlaces(workdir))
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

  /** Shell text, with the sandbox's unfinished directory as the current one: layers with nothing in them, and a playground. */
  #emptyLayers(meta: SandboxMeta): string {
    const playground = `${this.#layout.playgrounds}/${meta.playground}`;
    const owner = `${meta.user.uid}:${meta.user.gid}`;
    const disk = diskOf(this.#layout, meta);
    if (disk) return `set -e\n${makeDisk(disk)}`;
    return `mkdir home upper work${meta.prepared === undefined ? '' : ' home-work'} ${quoted(playground)} 2>/dev/null
set -e
[ -d home ] && [ -d upper ] && [ -d ${quoted(playground)} ]
[ "$(stat -c %u:%g home)" = ${owner} ] || chown ${owner} home upper ${quoted(playground)}
`;
  }

  /** As {@link emptyLayers}, with what another sandbox has in them. */
  #copiedLayers(unfinished: string, source: SandboxMeta, meta: SandboxMeta, isRoot: boolean): string {
    const from = sandboxLayoutOf(this.#layout, source.id).directory;
    const [fromDisk, toDisk] = [diskOf(this.#layout, source), diskOf(this.#layout, meta)];
    const { root } = this.#layout;
    if (fromDisk && toDisk) {
      // Nobody mounts or unmounts it meanwhile.
      const copy = `cd ${quoted(unfinished)} || exit 1\n${copyDisk(from, fromDisk)}`;
      return `set -e
exec 7>>${quoted(`${from}/disk.lock`)}; flock -w 60 7
${confinedCopy({ root, isRoot, copy })}
${ASK_BEFORE_NAME}
mv -T disk.img ${quoted(toDisk.image)}
`;
    }
    const layers = layersOf(this.#layout, source);
    const hasPlayground = meta.playground === meta.id && source.playground === source.id;
    const copy = [
      copyTree(layers.upper, `${unfinished}/upper`),
      copyTree(layers.home, `${unfinished}/home`),
      ...(hasPlayground ? [copyTree(layers.playground, `${unfinished}/playground`)] : []),
    ].join(' && ');
    // The playground is made when somebody waits for the copy, and not before.
    const playground = quoted(`${this.#layout.playgrounds}/${meta.playground}`);
    const { uid, gid } = meta.user;
    const place = hasPlayground
      ? `mv -T playground ${playground}`
      : `[ -d ${playground} ] || { mkdir ${playground} && chown ${uid}:${gid} ${playground}; }`;
    return `set -e
mkdir work${meta.prepared === undefined ? '' : ' home-work'}
${confinedCopy({ root, isRoot, copy })}
${ASK_BEFORE_NAME}
${place}
`;
  }

  /** The sandbox's directory, complete before it gets its name. */
  async #prepare(meta: SandboxMeta, isPooled: boolean, call?: CallOptions): Promise<void> {
    const script = this.#makeScript(meta, () => `${isPooled ? ': >pooled\n' : ''}${this.#emptyLayers(meta)}`);
    try {
      await runScriptOrFail(this.#host, 'provider.create', script, call);
    } catch (error) {
      const { meta: made } = sandboxLayoutOf(this.#layout, meta.id);
      if (!isLitterboxError(error, 'DISK_FULL') && (await this.#host.files.stat(made)))
        throw alreadyThere(this.name, meta.id);
      throw error;
    }
  }

  /** @param layers shell text, given where the directory is until it gets its name */
  #makeScript(meta: SandboxMeta, layers: (unfinished: string) => string): string {
    const { directory } = sandboxLayoutOf(this.#layout, meta.id);
    const name = `${UNFINISHED}${crypto.randomUUID()}`;
    const unfinished = `${this.#layout.sandboxes}/${name}`;
    const names = Object.entries(ownNames(meta.user)).map(([file, text]) => `printf %s ${quoted(text)} >names/${file}`);
    return `umask 022
${makeUnfinished(this.#layout.sandboxes, name)} || exit 1
trap 'cd /; rm -rf ${quoted(unfinished)}' EXIT
mkdir names
: >unfinished
${layers(unfinished)}${names.join('\n')}
printf %s ${quoted(JSON.stringify(meta))} >meta.json
mv -T ${quoted(unfinished)} ${quoted(directory)}
trap - EXIT`;
  }

  /** @param container the engine's id of the container, where it is known to run */
  #runtime(meta: SandboxMeta, container?: string): ContainerRuntime {
    return new ContainerRuntime({
      ...(container !== undefined && { container }),
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
    return knownEngine(this.#engine, this.#look, call).catch((error: unknown) => {
      this.#engine.forget();
      throw error;
    });
  }
}

/** What of images a spec asks for; nothing where it asks for none, which is refused before. */
function imageOf({ root }: SandboxSpec): { readonly reference: string; readonly installed?: string } {
  return root.type === 'image' ? root : { reference: '' };
}
