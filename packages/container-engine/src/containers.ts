import { setTimeout as delay } from 'node:timers/promises';
import {
  type Assurance,
  type CallOptions,
  decodeRaw,
  encodeRaw,
  type Host,
  isLitterboxError,
  LitterboxError,
  missingControls,
  type NetworkNamespace,
  quoted,
  reach,
  type ResourceUsage,
  SandboxId,
  shown,
} from '@litterbox/core/provider';
import { chooseProcessors, parseProcessors, runScript } from '@litterbox/linux-sandbox';
import type Docker from 'dockerode';
import { assuranceOf } from './assurance-of.ts';
import { containerName, containerOptions, homeVolume, LABELS, workspaceVolume } from './container-options.ts';
import { directoryArchive } from './directory-archive.ts';
import { type Engine, WORK_MS } from './engine.ts';
import { answerOf } from './engine-error.ts';
import type { EngineFacts } from './engine-facts.ts';
import type { EngineFlavour } from './engine-flavour.ts';
import { LATE_WORD_MS, LOOK_AGAIN_MS } from './late-word.ts';
import { INSIDE, layersOf, type Layout, PROCESSORS, sandboxLayoutOf, setupDirectory } from './layout.ts';
import { outputFrames } from './output-frames.ts';
import { SandboxDisks } from './sandbox-disks.ts';
import type { SandboxMeta } from './sandbox-meta.ts';

/** How long a container that was to be paused may be told to run: whoever paused it may as well have died before it did. */
const LATE_PAUSE_MS = 1_000;
/** How long a container that was killed may take to end before what may hold it is looked for. It takes some hundred on a busy machine. */
const HELD_MS = 1_000;

export interface FoundContainer {
  readonly id: string;
  readonly state: 'running' | 'paused' | 'ended';
}

/** The containers of sandboxes: one each, found by its label, made again from the sandbox's description when it is gone. */
export class Containers {
  readonly #engine: Engine;
  readonly #host: Host;
  readonly #layout: Layout;
  readonly #flavour: EngineFlavour;
  readonly #facts: (call?: CallOptions) => Promise<EngineFacts>;
  readonly #disks: SandboxDisks;
  readonly #isBelowEngine: boolean;

  constructor(input: {
    readonly engine: Engine;
    readonly host: Host;
    readonly layout: Layout;
    readonly flavour: EngineFlavour;
    readonly facts: (call?: CallOptions) => Promise<EngineFacts>;
    /** The layout is in a volume of the engine's. */
    readonly isBelowEngine: boolean;
  }) {
    this.#engine = input.engine;
    this.#host = input.host;
    this.#layout = input.layout;
    this.#flavour = input.flavour;
    this.#facts = input.facts;
    this.#isBelowEngine = input.isBelowEngine;
    this.#disks = new SandboxDisks(input.engine.provider, input.host, input.layout);
  }

  async find(id: SandboxId, call?: CallOptions): Promise<FoundContainer | undefined> {
    const filters = { label: [`${LABELS.id}=${id}`] };
    const [found] = await this.#engine.ask(
      'runtime.find',
      async (docker, signal) => docker.listContainers({ all: true, filters, abortSignal: signal }),
      call,
    );
    if (!found) return undefined;
    const state = found.State === 'running' || found.State === 'paused' ? found.State : 'ended';
    return { id: found.Id, state };
  }

  /** The processors to which each process of a sandbox has to be bound by itself, because the engine cannot bind the container. */
  async affinity(id: SandboxId, call?: CallOptions): Promise<readonly number[]> {
    const { hasProcessorSets } = await this.#facts(call);
    if (hasProcessorSets === true) return [];
    const bytes = await this.#host.files.read(sandboxLayoutOf(this.#layout, id).processors, call);
    return parseProcessors(decodeRaw(bytes ?? new Uint8Array()));
  }

  async #chooseProcessors(
    { id, limits }: SandboxMeta,
    { processors = [] }: EngineFacts,
    call?: CallOptions,
  ): Promise<readonly number[]> {
    const { stdout: taken } = await runScript(
      this.#host,
      `cat ${quoted(this.#layout.sandboxes)}/*/${PROCESSORS} 2>/dev/null`,
      call,
    );
    const chosen = chooseProcessors(processors, limits.cpus, taken.split('\n').map(parseProcessors));
    const { processors: file } = sandboxLayoutOf(this.#layout, id);
    await this.#host.files.write(file, encodeRaw(`${chosen.join()}\n`), call).catch((error: unknown) => {
      if (!isLitterboxError(error, 'NOT_FOUND')) throw error; // it is being removed, which is told further on
    });
    return chosen;
  }

  /** Makes the workspace's volume and the container, and starts it. @throws LitterboxError as the engine says. */
  async create(meta: SandboxMeta, call?: CallOptions): Promise<string> {
    const facts = await this.#facts(call);
    const sandbox = sandboxLayoutOf(this.#layout, meta.id);
    const layers = layersOf(this.#layout, meta);
    await this.#disks.mount(meta, call);
    reach('container.after-disk');
    const userProcesses = await this.#flavour.userProcesses?.(this.#host, facts, meta.limits.processes, call);
    const setup = meta.prepared === undefined ? undefined : setupDirectory(this.#layout, meta.imageId, meta.prepared);
    const processors = await this.#chooseProcessors(meta, facts, call);
    const options = containerOptions({
      meta,
      processors: facts.hasProcessorSets === true ? processors : [],
      sandbox,
      ...(setup !== undefined && { setup }),
      layers,
      facts,
      isBelowEngine: this.#isBelowEngine,
      seccomp: await this.#flavour.seccomp(this.#host, this.#layout, call),
      owned: this.#flavour.ownedBy(meta.user),
      usersMode: this.#flavour.usersMode(facts, meta.user),
      ...(userProcesses !== undefined && { userProcesses }),
    });
    const work = { ...call, limitMs: WORK_MS };
    const base = `${this.#layout.bases}/${meta.base}`;
    const volumes = [
      {
        name: workspaceVolume(meta.id),
        lower: [
          ...(setup === undefined ? [] : [`${setup}/upper`]),
          ...(meta.newer === undefined ? [] : [`${this.#layout.bases}/${meta.newer}`]),
          base,
        ].join(':'),
        upper: layers.upper,
        work: layers.work,
      },
      ...(setup === undefined
        ? []
        : [{ name: homeVolume(meta.id), lower: `${setup}/home`, upper: layers.home, work: layers.homeWork }]),
    ];
    const make = async () => {
      for (const layer of volumes)
        await this.#engine.ask(
          'provider.create',
          async (docker, signal) =>
            docker.createVolume({
              Name: layer.name,
              Driver: 'local',
              DriverOpts: {
                type: 'overlay',
                device: 'overlay',
                o: `lowerdir=${layer.lower},upperdir=${layer.upper},workdir=${layer.work},${overlayOptions(facts)}`,
              },
              Labels: { [LABELS.id]: meta.id },
              abortSignal: signal,
            }),
          work,
        );
      reach('container.after-volumes');
      const container = await this.#engine.ask(
        'provider.create',
        async (docker, signal) => docker.createContainer({ ...options, abortSignal: signal }),
        work,
      );
      // Before it runs: nothing of the sandbox's can put a link there yet.
      if (this.#flavour.hasVolumesOfImage && !meta.isInstaller) {
        const places = [...new Set([meta.workdir, '/src', INSIDE.home])].map((path) => path.slice(1));
        const archive = Buffer.from(directoryArchive(places, meta.user));
        await this.#engine.ask('provider.create', async () => container.putArchive(archive, { path: '/' }), work);
      }
      return container;
    };
    const [made] = await Promise.allSettled([make()]);
    if (!(await this.#host.files.stat(sandbox.meta))) {
      await this.remove(meta.id);
      await this.#removeSources(meta);
      throw new LitterboxError('NOT_FOUND', `The sandbox ${meta.slug} was removed meanwhile.`, {
        operation: 'provider.start',
        provider: this.#engine.provider,
        hint: 'Make it again, or use another one.',
      });
    }
    if (made.status === 'rejected') throw made.reason;
    const { value: container } = made;
    reach('container.after-create');
    await this.#begin(container.id, meta, call);
    reach('container.after-start');
    return container.id;
  }

  /**
   * Waits until nobody copies the sandbox. A container that was paused by one who was killed over it goes on.
   *
   * @returns whether somebody was at it
   */
  async undisturbed(id: SandboxId, call?: CallOptions): Promise<boolean> {
    const { directory, copyingMark, pausedMark } = sandboxLayoutOf(this.#layout, id);
    if (!(await this.#host.files.stat(copyingMark, call))) return false;
    await runScript(this.#host, `cd ${quoted(directory)} && exec 5>>${quoted(copyingMark)} && flock -w 600 5`, call);
    const isMarked = (await this.#host.files.stat(pausedMark, call)) !== undefined;
    if (!isMarked && (await this.find(id, call))?.state === 'paused') await this.unpause(id, true, call);
    await this.#host.files.remove(copyingMark, call);
    return true;
  }

  /** Pauses what runs, for one who copies and holds the lock. @returns whether anything ran */
  async freeze(id: SandboxId, call?: CallOptions): Promise<boolean> {
    const found = await this.find(id, call);
    if (!found || found.state === 'ended') return false;
    const { canPause } = await this.#facts(call);
    if (!canPause)
      throw new LitterboxError(
        'UNSUPPORTED',
        `The sandbox runs, and ${this.#engine.title} cannot pause containers of this user while they are copied.`,
        {
          operation: 'provider.create',
          provider: this.#engine.provider,
          hint: 'Stop it first: litterbox pause --stop.',
        },
      );
    await this.pause(id, false, call);
    return true;
  }

  async isFrozen(id: SandboxId, call?: CallOptions): Promise<boolean> {
    return (await this.find(id, call))?.state === 'paused';
  }

  /** The container of a prepared sandbox. @throws LitterboxError `UNAVAILABLE` when it does not run: frozen or not. */
  async waiting(meta: SandboxMeta, call?: CallOptions): Promise<FoundContainer> {
    const found = await this.#engine.askIfThere(
      'provider.claim',
      async (docker) => docker.getContainer(containerName(meta)).inspect(),
      call,
    );
    const isOurs = found?.Config.Labels[LABELS.id] === meta.id;
    if (found && isOurs && found.State.Running)
      return { id: found.Id, state: found.State.Paused ? 'paused' : 'running' };
    throw new LitterboxError('UNAVAILABLE', 'The container of the prepared sandbox does not run any more.', {
      operation: 'provider.claim',
      provider: this.#engine.provider,
      hint: 'Create a sandbox instead.',
    });
  }

  /** Gives the container the name of the sandbox that it is from now on, and lets it run. */
  async giveAway({ id, state }: FoundContainer, meta: SandboxMeta, call?: CallOptions): Promise<void> {
    const work = { ...call, limitMs: WORK_MS };
    const rename = async (docker: Docker, signal: AbortSignal) =>
      docker.getContainer(id).rename({ name: containerName(meta), abortSignal: signal });
    // The name first: an engine may give no name to what is just changing its state, or keep the change waiting.
    await this.#engine.ask('provider.claim', rename, work);
    const unpause = (docker: Docker) => docker.getContainer(id).unpause();
    if (state === 'paused') await this.#turned('provider.claim', unpause, call);
  }

  /** The id of the sandbox's container, which runs then. */
  async ensureRunning(meta: SandboxMeta, call?: CallOptions): Promise<string> {
    await this.undisturbed(meta.id, call);
    const found = await this.find(meta.id, call);
    if (found?.state === 'running') return found.id;
    if (found?.state === 'paused') {
      const { pausedMark } = sandboxLayoutOf(this.#layout, meta.id);
      const isMarked = (await this.#host.files.stat(pausedMark, call)) !== undefined;
      if (isMarked || (await this.#settled(meta.id, 'paused', LATE_WORD_MS, call)) === 'paused') throw this.#paused();
      return await this.ensureRunning(meta, call);
    }
    if (found) {
      await this.#disks.mount(meta, call);
      await this.#begin(found.id, meta, call);
      return found.id;
    }
    await this.#assertImage(meta, call);
    return await this.create(meta, call);
  }

  /** @throws LitterboxError `UNSUPPORTED` where the engine cannot freeze what runs: before anything is marked as paused. */
  async assertPausable(call?: CallOptions): Promise<void> {
    const { canPause } = await this.#facts(call);
    if (canPause) return;
    throw new LitterboxError('UNSUPPORTED', `${this.#engine.title} cannot pause containers of this user here.`, {
      operation: 'runtime.pause',
      provider: this.#engine.provider,
      hint: 'Stop it instead: litterbox pause --stop. Pausing takes control groups version 2 with delegation, or the rootful engine.',
    });
  }

  /**
   * Freezes what runs in the container; nothing where it does not run.
   *
   * @param isMarked whether somebody paused it before: then it is frozen where the engine says so
   */
  async pause(id: SandboxId, isMarked: boolean, call?: CallOptions): Promise<void> {
    for (const limit = performance.now() + LATE_WORD_MS; ; ) {
      const found = await this.find(id, call);
      if (!found || found.state === 'ended' || (found.state === 'paused' && isMarked)) return;
      const pause = (docker: Docker) => docker.getContainer(found.id).pause();
      if (found.state === 'running' && (await this.#turned('runtime.pause', pause, call))) return;
      if (isMarked || performance.now() > limit) return; // by another hand than ours
      await this.#settled(id, found.state, LATE_WORD_MS, call);
    }
  }

  /**
   * Thaws what runs in the container; nothing where it does not run.
   *
   * @param isMarked whether it was paused: then an engine that says that it runs may not know yet
   */
  async unpause(id: SandboxId, isMarked: boolean, call?: CallOptions): Promise<void> {
    const found = await this.find(id, call);
    const state =
      found?.state === 'running' && isMarked ? await this.#settled(id, 'running', LATE_PAUSE_MS, call) : found?.state;
    if (!found || state !== 'paused') return;
    const unpause = (docker: Docker) => docker.getContainer(found.id).unpause();
    if (await this.#turned('runtime.resume', unpause, call)) return;
    await this.#settled(id, 'paused', LATE_WORD_MS, call); // it ran already
  }

  async kill(id: SandboxId, call?: CallOptions): Promise<void> {
    const found = await this.find(id, call);
    if (!found || found.state === 'ended') return await this.#disks.unmount(id, call);
    const work = { ...call, limitMs: WORK_MS };
    if (found.state === 'paused') await this.unpause(id, false, call);
    await this.#released(found.id, async () => {
      await this.#kill(found.id, work);
      await this.#ended('runtime.stop', async (docker) => docker.getContainer(found.id).wait(), work);
    });
    await this.#disks.unmount(id, call);
  }

  /** Container and volume; absent ones are fine. */
  async remove(id: SandboxId, call?: CallOptions): Promise<void> {
    const work = { ...call, limitMs: WORK_MS };
    const found = await this.find(id, call);
    if (found?.state === 'paused') await this.unpause(id, false, call);
    if (found)
      await this.#released(found.id, () =>
        this.#engine.askIfThere(
          'provider.remove',
          async (docker, signal) => {
            const container = docker.getContainer(found.id);
            await container.remove({ force: true, v: true, abortSignal: signal }).catch(async (error: unknown) => {
              if (!isBeingRemoved(error)) throw error;
              await container.wait({ condition: 'removed', abortSignal: signal }); // somebody else is at it
            });
          },
          work,
        ),
      );
    reach('container.after-remove');
    for (const volume of [workspaceVolume(id), homeVolume(id)])
      await this.#engine.askIfThere(
        'provider.remove',
        async (docker, signal) => docker.getVolume(volume).remove({ force: true, abortSignal: signal }),
        work,
      );
    reach('container.after-volumes-removed');
    await this.#disks.unmount(id, call);
  }

  /**
   * Ids of what the engine has of sandboxes of this provider's directory: also of those whose directory is gone, because the engine
   * finishes what it was asked for by a program that was killed meanwhile.
   */
  async known(call?: CallOptions): Promise<ReadonlySet<SandboxId>> {
    const filters = { label: [LABELS.id] };
    const [containers, { Volumes: volumes }] = await Promise.all([
      this.#engine.ask(
        'provider.remove',
        async (docker, signal) => docker.listContainers({ all: true, filters, abortSignal: signal }),
        call,
      ),
      this.#engine.ask(
        'provider.remove',
        async (docker, signal) => docker.listVolumes({ filters, abortSignal: signal }),
        call,
      ),
    ]);
    const found = new Set<SandboxId>();
    const look = (labels: Readonly<Record<string, string>> | null, paths: readonly string[]) => {
      const id = labels?.[LABELS.id] ?? '';
      // The label alone does not say whose it is: another user or another state directory has sandboxes on this engine too.
      const own = SandboxId.is(id) && `${sandboxLayoutOf(this.#layout, id).directory}/`;
      if (own && paths.some((path) => path.startsWith(own))) found.add(id);
    };
    for (const { Labels, Mounts } of containers)
      look(
        Labels,
        Mounts.map(({ Source }) => Source),
      );
    for (const { Labels, Options } of volumes ?? []) look(Labels, upperDirectories(Options?.['o'] ?? ''));
    return found;
  }

  /** @throws LitterboxError `DEGRADED` when a control is missing and nobody allowed that. */
  async assertControls(meta: SandboxMeta, call?: CallOptions): Promise<Assurance> {
    const assurance = await this.assurance(meta, call);
    const missing = missingControls(assurance);
    if (missing.length === 0 || meta.allowDegraded) return assurance;
    throw new LitterboxError(
      'DEGRADED',
      `The sandbox would run without: ${missing.map(({ name, finding }) => `${name} (${finding})`).join('; ')}.`,
      {
        operation: 'provider.start',
        provider: this.#engine.provider,
        hint: `${missing[0]?.remedy ?? ''} To go on without it: --allow-degraded.`,
        facts: { missing: missing.map(({ name }) => name) },
      },
    );
  }

  async assurance(meta: SandboxMeta, call?: CallOptions): Promise<Assurance> {
    const id = await this.ensureRunning(meta, call);
    const [container, facts] = await Promise.all([
      this.#engine.ask('runtime.assurance', async (docker) => docker.getContainer(id).inspect(), call),
      this.#facts(call),
    ]);
    const [[status, map], diskBytes] = await Promise.all([
      this.#kernelFacts(container, call),
      this.#disks.sizeBytes(meta, container.State.Pid, call),
    ]);
    return assuranceOf({
      provider: this.#engine.provider,
      title: this.#engine.title,
      facts,
      meta,
      container,
      ...(diskBytes !== undefined && { diskBytes }),
      status: new Map(
        status.split('\n').map((line) => {
          const cut = line.indexOf(':');
          return [line.slice(0, cut), line.slice(cut + 1).trim()];
        }),
      ),
      uidMap: map
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number]),
    });
  }

  /** `status` and `uid_map` of the container's first process: from the machine where it can be seen there, else from inside. */
  async #kernelFacts(
    { Id, State }: Docker.ContainerInspectInfo,
    call?: CallOptions,
  ): Promise<readonly [string, string]> {
    const names = ['status', 'uid_map'] as const;
    const [status = '', map = ''] = await Promise.all(
      names.map(async (name) =>
        decodeRaw((await this.#host.files.read(`/proc/${State.Pid}/${name}`, call)) ?? new Uint8Array()),
      ),
    );
    // Another process may have that number here, when the engine's processes have numbers of their own.
    if (/^NSpid:.*\s1$/m.test(status)) return [status, map];
    const { stream } = await this.#engine.exec(
      Id,
      { Cmd: ['sh', '-c', READ_FACTS], AttachStdout: true, AttachStderr: true, WorkingDir: '/' },
      call,
    );
    let text = '';
    for await (const { type, bytes } of outputFrames(stream))
      if (type === 'stdout-data') text = (text + decodeRaw(bytes)).slice(0, 65_536);
    const cut = text.indexOf('\u001e');
    return [text.slice(0, cut), text.slice(cut + 1)];
  }

  /** The network of the running container, if who runs programs on this machine may enter it. */
  async network(meta: SandboxMeta, call?: CallOptions): Promise<NetworkNamespace | undefined> {
    const id = await this.ensureRunning(meta, call);
    const [{ State }, facts, { uid }] = await Promise.all([
      this.#engine.ask('runtime.connect', async (docker) => docker.getContainer(id).inspect(), call),
      this.#facts(call),
      this.#host.facts(call),
    ]);
    const process = `/proc/${State.Pid}`;
    // Another process may have that number here, when the engine's processes have numbers of their own.
    const script = `grep -q '^NSpid:.*[[:space:]]1$' ${process}/status && readlink ${process}/ns/net`;
    const { code, stdout } = await runScript(this.#host, script, call);
    if (code !== 0 || (uid !== 0 && !facts.isRootless)) return undefined;
    return {
      path: `${process}/ns/net`,
      identity: stdout.trim(),
      ...(uid !== 0 && { userNamespace: `${process}/ns/user` }),
    };
  }

  async usage(id: SandboxId, call?: CallOptions): Promise<ResourceUsage> {
    const found = await this.find(id, call);
    if (!found || found.state === 'ended') return { memoryBytes: 0, processes: 0 };
    const stats = await this.#engine.askIfThere(
      'runtime.usage',
      async (docker) => docker.getContainer(found.id).stats({ stream: false, 'one-shot': true }),
      call,
    );
    if (!stats) return { memoryBytes: 0, processes: 0 };
    const { memory_stats, cpu_stats, pids_stats } = stats;
    return {
      ...(memory_stats?.usage && { memoryBytes: memory_stats.usage }),
      ...(cpu_stats?.cpu_usage?.total_usage && { cpuMs: cpu_stats.cpu_usage.total_usage / 1e6 }),
      ...(pids_stats?.current && { processes: pids_stats.current }),
    };
  }

  /** Podman makes what a container shall be given where it is missing: empty directories, of a sandbox that was removed. */
  async #removeSources({ id, playground }: SandboxMeta): Promise<void> {
    const { directory, meta } = sandboxLayoutOf(this.#layout, id);
    // Not where it was made anew meanwhile; and a playground that several share is not its own.
    const own = playground === id ? `rmdir ${quoted(`${this.#layout.playgrounds}/${id}`)}\n` : '';
    const script = `[ -d ${quoted(directory)} ] && [ ! -e ${quoted(meta)} ] || exit 0
${own}find ${quoted(directory)} -depth -type d -exec rmdir {} \\;`;
    await runScript(this.#host, script);
  }

  /** Its disk is mounted by then. */
  async #begin(container: string, meta: SandboxMeta, call?: CallOptions): Promise<void> {
    try {
      await this.#engine.ask(
        'provider.start',
        async (docker, signal) => {
          try {
            await docker.getContainer(container).start({ abortSignal: signal });
          } catch (error) {
            if (answerOf(error).statusCode !== 304) throw error; // another process was faster
          }
        },
        { ...call, limitMs: WORK_MS },
      );
      await this.#disks.reserve(meta, call);
    } catch (error) {
      const { said } = answerOf((error as LitterboxError).cause);
      if (!/\/bin\/sh|executable file not found|no such file/i.test(said)) throw error;
      throw new LitterboxError(
        'UNSUPPORTED',
        `The image ${shown(meta.image)} has no /bin/sh: ${shown(said)}.`,
        {
          operation: 'provider.start',
          provider: this.#engine.provider,
          hint: 'Set container.base-image to one with a shell and tar, such as busybox or debian.',
        },
        { cause: error },
      );
    }
  }

  async #assertImage(meta: SandboxMeta, call?: CallOptions): Promise<void> {
    const image = await this.#engine.askIfThere(
      'provider.start',
      async (docker) => docker.getImage(meta.imageId).inspect(),
      call,
    );
    if (image) return;
    throw new LitterboxError(
      'SANDBOX_BROKEN',
      `The container of the sandbox is gone, and so is its image ${shown(meta.image)} (${meta.imageId.slice(0, 19)}).`,
      {
        operation: 'provider.start',
        provider: this.#engine.provider,
        hint: 'Its files and its history are still there: get the image again, or run litterbox recover on it.',
      },
    );
  }

  /** The state, as soon as it is another one, or the same when it stays that long. */
  async #settled(
    id: SandboxId,
    state: FoundContainer['state'],
    limitMs: number,
    call?: CallOptions,
  ): Promise<FoundContainer['state']> {
    const limit = performance.now() + limitMs;
    for (;;) {
      const now = (await this.find(id, call))?.state ?? 'ended';
      if (now !== state || performance.now() > limit) return now;
      await delay(LOOK_AGAIN_MS, undefined, { ...(call?.signal && { signal: call.signal }) });
    }
  }

  /** Pauses or unpauses; false when the container is told not to be in the state for it. */
  async #turned(operation: string, turn: (docker: Docker) => Promise<unknown>, call?: CallOptions): Promise<boolean> {
    return await this.#engine.ask(
      operation,
      async (docker) => {
        try {
          await turn(docker);
          return true;
        } catch (error) {
          if (!/already paused|not running|not paused|improper|cannot (pause|resume) a/i.test(answerOf(error).said))
            throw error;
          return false;
        }
      },
      { ...call, limitMs: WORK_MS },
    );
  }

  /**
   * Waits for what ends a container, and helps it along when that takes long: again and again, as an engine answers a kill only when
   * it has seen the end. Help that fails is not told, as `ending` tells why there is no end.
   */
  async #released(container: string, ending: () => Promise<unknown>): Promise<void> {
    const killAgain = async () => await this.#kill(container);
    const helps: Promise<void>[] = [];
    const help = () => helps.push(this.#flavour.release(container, killAgain).catch(() => {}));
    const helping = setInterval(help, HELD_MS);
    try {
      await ending();
    } finally {
      clearInterval(helping);
    }
    await Promise.all(helps); // a kill that is still under way would end what is started next
  }

  async #kill(container: string, call?: CallOptions): Promise<void> {
    await this.#ended('runtime.stop', async (docker) => docker.getContainer(container).kill({ signal: 'SIGKILL' }), {
      ...call,
      limitMs: WORK_MS,
    });
  }

  /** What may have ended by itself meanwhile: 404 and 409 say so. */
  async #ended(
    operation: string,
    question: (docker: Docker) => Promise<unknown>,
    call: CallOptions & { readonly limitMs: number },
  ): Promise<void> {
    await this.#engine.askIfThere(
      operation,
      async (docker) => {
        try {
          await question(docker);
        } catch (error) {
          if (
            ![304, 409].includes(answerOf(error).statusCode ?? 0) &&
            !/not running|not paused|improper/i.test(answerOf(error).said)
          )
            throw error;
        }
      },
      call,
    );
  }

  #paused(): LitterboxError {
    return new LitterboxError('SANDBOX_PAUSED', 'The container of the sandbox is paused.', {
      operation: 'runtime.spawn',
      provider: this.#engine.provider,
      hint: 'Run litterbox resume on it.',
    });
  }
}

/** Two files of the container's first process, by builtins alone. */
const READ_FACTS = `lb_cat() { while IFS= read -r lb_l; do printf '%s\\n' "$lb_l"; done <$1; }
lb_cat /proc/1/status; printf '\\036'; lb_cat /proc/1/uid_map`;

// redirect_dir, metacopy and index off: nothing in the upper layer may refer to another place by name or handle, for the
// agent writes that layer. A mount in a user namespace keeps its marks in user.*. https://docs.kernel.org/filesystems/overlayfs.html
function overlayOptions({ isRootless }: EngineFacts): string {
  return `${isRootless ? 'userxattr' : 'redirect_dir=nofollow'},metacopy=off,index=off,xino=off,nosuid,nodev`;
}

/** Where the layers of an overlay's options are that it writes. */
function upperDirectories(options: string): readonly string[] {
  return options
    .split(',')
    .flatMap((option) => (option.startsWith('upperdir=') ? [option.slice('upperdir='.length)] : []));
}

/** Two programs may remove one sandbox at the same time. */
function isBeingRemoved(error: unknown): boolean {
  const { statusCode, said } = answerOf(error);
  return statusCode === 409 && /removal .*in progress/i.test(said);
}
