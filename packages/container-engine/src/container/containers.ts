import {
  type CallOptions,
  encodeRaw,
  isLitterboxError,
  LitterboxError,
  quoted,
  failpoint,
  type SandboxId,
  shown,
  advice,
  step,
} from '@litterbox/core/provider';
import { chooseProcessors, parseProcessors, runScript } from '@litterbox/linux-sandbox';
import type Docker from 'dockerode';
import { ContainerEnds } from './end-container.ts';
import { ContainerFacts } from './container-facts.ts';
import { containerOptions, workspacePlaces } from './container-options.ts';
import { ContainerPauses } from './container-pauses.ts';
import { ContainerUsage } from './container-usage.ts';
import { diskSpeedOptions } from '../engine/disk-speed.ts';
import { directoryArchive } from './directory-archive.ts';
import { type Engine, WORK_MS } from '../engine/engine.ts';
import { hasStartedAlready, lacksShell } from '../engine/engine-answers.ts';
import { answerOf } from '../engine/engine-error.ts';
import { notStarted } from './not-started.ts';
import type { EngineFacts } from '../engine/engine-facts.ts';
import type { EngineFlavour } from '../engine/engine-flavour.ts';
import { showAddress } from '../address/engine-address.ts';
import { isOwnEngine } from '../engine/is-own-engine.ts';
import { findContainer, type FoundContainer } from './find-container.ts';
import { STALE_STATE_MS } from '../engine/stale-state.ts';
import { INSIDE, layersOf, type Layout, PROCESSORS, sandboxLayoutOf, setupDirectory } from '../engine/layout.ts';
import { overlayVolumes } from './overlay-volumes.ts';
import { SandboxDisks } from './sandbox-disks.ts';
import { Sidecars } from './sidecars.ts';
import type { ContainerDirectories } from '../engine/container-directories.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

export interface ContainersInput {
  readonly engine: Engine;
  readonly directories: ContainerDirectories;
  readonly flavour: EngineFlavour;
  readonly facts: (options?: CallOptions) => Promise<EngineFacts>;
  /** The layout is in a volume of the engine's. */
  readonly isBelowEngine: boolean;
}

/** The containers of sandboxes: one each, found by its label, made again from the sandbox's description when it is gone. */
export class Containers {
  readonly pauses: ContainerPauses;
  readonly ends: ContainerEnds;
  readonly facts: ContainerFacts;
  readonly sidecars: Sidecars;
  readonly usage: ContainerUsage;
  readonly #input: ContainersInput;
  readonly #engine: Engine;
  readonly #layout: Layout;
  readonly #disks: SandboxDisks;

  constructor(input: ContainersInput) {
    const { engine, directories, flavour, facts } = input;
    const { host, layout } = directories;
    this.#input = input;
    this.#engine = engine;
    this.#layout = layout;
    this.#disks = new SandboxDisks(engine.provider, host, layout);
    this.pauses = new ContainerPauses(engine, directories, facts);
    this.sidecars = new Sidecars({ engine, directories, flavour, facts });
    this.usage = new ContainerUsage(engine, directories);
    this.ends = new ContainerEnds({
      engine,
      layout,
      flavour,
      pauses: this.pauses,
      disks: this.#disks,
      sidecars: this.sidecars,
      usage: this.usage,
    });
    this.facts = new ContainerFacts({
      engine,
      directories,
      facts,
      disks: this.#disks,
      ensureRunning: (meta, call) => this.ensureRunning(meta, call),
    });
  }

  async find(id: SandboxId, options?: CallOptions): Promise<FoundContainer | undefined> {
    return await findContainer(this.#engine, id, options);
  }

  /**
   * Makes the workspace's volume and the container, and starts it.
   *
   * @param meanwhile called while the container starts
   * @throws LitterboxError as the engine says
   */
  async create(meta: SandboxMeta, options?: CallOptions, meanwhile?: () => void): Promise<string> {
    const { directories, facts: survey, isBelowEngine } = this.#input;
    const facts = await survey(options);
    if (facts.isElsewhere && !isBelowEngine) throw this.#notHere(meta);
    await this.#disks.mount(meta, options);
    failpoint('container.after-disk');
    const [made] = await Promise.allSettled([this.#make(meta, facts, options)]);
    failpoint('container.after-create');
    // Whether somebody has removed the sandbox is looked for while its container starts.
    const container = made.status === 'fulfilled' ? made.value : undefined;
    const [begun, described] = await Promise.all([
      container && Promise.allSettled([this.#begin(container.id, meta, options)]),
      directories.host.files.stat(sandboxLayoutOf(this.#layout, meta.id).meta).finally(container && meanwhile),
    ]);
    if (!described) {
      await this.ends.remove(meta.id);
      await this.#removeSources(meta);
      throw new LitterboxError('NOT_FOUND', `The sandbox ${meta.slug} was removed in the meantime.`, {
        operation: 'provider.start',
        provider: this.#engine.provider,
        hint: 'Make it again, or use another one.',
      });
    }
    if (made.status === 'rejected') throw made.reason;
    if (begun?.[0].status === 'rejected') throw begun[0].reason;
    failpoint('container.after-start');
    return made.value.id;
  }

  /** The id of the sandbox's container, which runs then. */
  async ensureRunning(meta: SandboxMeta, options?: CallOptions): Promise<string> {
    const [wasDisturbed, at] = await Promise.all([
      this.pauses.undisturbed(meta.id, options),
      this.find(meta.id, options),
    ]);
    const found = wasDisturbed ? await this.find(meta.id, options) : at;
    if (found?.state === 'running') return found.id;
    if (found?.state === 'paused') {
      const isMarked = await this.#input.directories.marksOf(meta.id).isSet('paused', options);
      if (isMarked || (await this.pauses.settled(meta.id, 'paused', STALE_STATE_MS, options)) === 'paused')
        throw this.#paused();
      return await this.ensureRunning(meta, options);
    }
    if (found) {
      await this.#disks.mount(meta, options);
      if (await this.#begin(found.id, meta, options)) await this.usage.begin(meta.id);
      return found.id;
    }
    await this.assertOwn(meta, options);
    await this.#assertImage(meta, options);
    const made = await this.create(meta, options);
    await this.usage.begin(meta.id);
    return made;
  }

  /** An engine elsewhere would look for the sandbox's directories on its own machine, and some engines make what they do not find. */
  #notHere({ slug }: SandboxMeta): LitterboxError {
    const { provider, title } = this.#engine;
    return new LitterboxError(
      'UNAVAILABLE',
      `The files of ${slug} are on this machine, and the ${title} that answers now cannot see them.`,
      {
        operation: 'provider.start',
        provider,
        hint: `Use the ${title} of this machine again, which made the sandbox.`,
      },
    );
  }

  /** Makes the volumes and the container of a sandbox whose disk is mounted. */
  async #make(meta: SandboxMeta, facts: EngineFacts, call?: CallOptions): Promise<Docker.Container> {
    const { directories, flavour, isBelowEngine } = this.#input;
    const { host } = directories;
    const work = { ...call, limitMs: WORK_MS };
    const { diskBytesPerSecond } = meta.limits;
    const [userProcesses, processors, seccomp, diskSpeed] = await Promise.all([
      flavour.userProcesses?.(host, facts, meta.limits.processes, call),
      this.#chooseProcessors(meta, facts, call),
      flavour.seccomp(host, this.#layout, call),
      diskBytesPerSecond === undefined ? {} : diskSpeedOptions(host, diskBytesPerSecond, call),
      this.#createVolumes(meta, facts, work),
    ]);
    failpoint('container.after-volumes');
    const options = containerOptions({
      meta,
      processors: facts.hasProcessorSets === true ? processors : [],
      sandbox: sandboxLayoutOf(this.#layout, meta.id),
      ...(meta.prepared !== undefined && { setup: setupDirectory(this.#layout, meta.imageId, meta.prepared) }),
      layers: layersOf(this.#layout, meta),
      facts,
      isBelowEngine,
      seccomp,
      owned: flavour.ownedBy(meta.user),
      usersMode: flavour.usersMode(facts, meta.user),
      masks: flavour.masks ?? [],
      bindOptions: flavour.bindOptions,
      diskSpeed,
      ...(userProcesses !== undefined && { userProcesses }),
    });
    const [container] = await Promise.all([
      this.#engine.ask(
        'provider.create',
        async (docker, signal) => docker.createContainer({ ...options, abortSignal: signal }),
        work,
      ),
      this.#noteProcessors(meta, processors, call),
    ]);
    // Before it runs: nothing of the sandbox's can put a link there yet.
    if (flavour.hasVolumesOfImage && !meta.isInstaller) {
      const places = [...workspacePlaces(meta), INSIDE.home].map((path) => path.slice(1));
      const archive = Buffer.from(directoryArchive(places, meta.user));
      await this.#engine.ask('provider.create', async () => container.putArchive(archive, { path: '/' }), work);
    }
    return container;
  }

  async #chooseProcessors(
    { limits }: SandboxMeta,
    { processors = [] }: EngineFacts,
    options?: CallOptions,
  ): Promise<readonly number[]> {
    const any = chooseProcessors(processors, limits.cpus, []);
    if (any.length === processors.length) return any;
    const { stdout: taken } = await runScript(
      this.#input.directories.host,
      `cat ${quoted(this.#layout.sandboxes)}/*/${PROCESSORS} 2>/dev/null`,
      options,
    );
    return chooseProcessors(processors, limits.cpus, taken.split('\n').map(parseProcessors));
  }

  /** For those who choose the next ones. */
  async #noteProcessors({ id }: SandboxMeta, chosen: readonly number[], options?: CallOptions): Promise<void> {
    const { processors: file } = sandboxLayoutOf(this.#layout, id);
    await this.#input.directories.host.files
      .write(file, encodeRaw(`${chosen.join()}\n`), options)
      .catch((error: unknown) => {
        if (!isLitterboxError(error, 'NOT_FOUND')) throw error; // it is being removed, which is told further on
      });
  }

  async #createVolumes(
    meta: SandboxMeta,
    facts: EngineFacts,
    work: CallOptions & { readonly limitMs: number },
  ): Promise<void> {
    await Promise.all(
      overlayVolumes(this.#layout, meta, facts).map((volume) =>
        this.#engine.ask(
          'provider.create',
          async (docker, signal) => docker.createVolume({ ...volume, abortSignal: signal }),
          work,
        ),
      ),
    );
  }

  /** Podman makes what a container shall be given where it is missing: empty directories, of a sandbox that was removed. */
  async #removeSources({ id, playground }: SandboxMeta): Promise<void> {
    const { directory, meta } = sandboxLayoutOf(this.#layout, id);
    // Not where it was made anew meanwhile; and a playground that several share is not its own.
    const own = playground === id ? `rmdir ${quoted(`${this.#layout.playgrounds}/${id}`)}\n` : '';
    const script = `[ -d ${quoted(directory)} ] && [ ! -e ${quoted(meta)} ] || exit 0
${own}find ${quoted(directory)} -depth -type d -exec rmdir {} \\;`;
    await runScript(this.#input.directories.host, script);
  }

  /** Its disk is mounted by then. Gives false where another process was faster. */
  async #begin(container: string, meta: SandboxMeta, options?: CallOptions): Promise<boolean> {
    try {
      const isOwn = await this.#engine.ask(
        'provider.start',
        async (docker, signal) => {
          try {
            await docker.getContainer(container).start({ abortSignal: signal });
            return true;
          } catch (error) {
            if (!hasStartedAlready(error)) throw error;
            return false;
          }
        },
        { ...options, limitMs: WORK_MS },
      );
      await this.#disks.reserve(meta, options);
      return isOwn;
    } catch (error) {
      const { cause } = error as LitterboxError;
      if (!lacksShell(cause)) throw notStarted(this.#engine, error);
      throw new LitterboxError(
        'UNSUPPORTED',
        `The image ${shown(meta.image)} has no /bin/sh: ${shown(answerOf(cause).said)}.`,
        {
          operation: 'provider.start',
          provider: this.#engine.provider,
          hint: 'Set container.base-image to one with a shell and tar, such as busybox or debian.',
        },
        { cause: error },
      );
    }
  }

  /** @throws LitterboxError `UNAVAILABLE` where another engine answers than the one that the sandbox was made on */
  async assertOwn(meta: SandboxMeta, options?: CallOptions): Promise<void> {
    const facts = await this.#input.facts(options);
    if (isOwnEngine(meta, facts)) return;
    const { provider, title } = this.#engine;
    const now = showAddress(await this.#engine.address(options));
    throw new LitterboxError(
      'UNAVAILABLE',
      `${meta.slug} is on another engine than the ${title} that answers now, at ${now}.`,
      {
        operation: 'provider.open',
        provider,
        hint: `Nothing of it was changed. Name the engine that made it again, which keeps its containers in ${shown(meta.engineRoot)}.`,
      },
    );
  }

  async #assertImage(meta: SandboxMeta, options?: CallOptions): Promise<void> {
    const image = await this.#engine.askIfThere(
      'provider.start',
      async (docker) => docker.getImage(meta.imageId).inspect(),
      options,
    );
    if (image) return;
    throw new LitterboxError(
      'SANDBOX_BROKEN',
      `The container of the sandbox is gone, and so is its image ${shown(meta.image)} (${meta.imageId.slice(0, 19)}).`,
      {
        operation: 'provider.start',
        provider: this.#engine.provider,
        hint: advice`Its files and its history are still there: get the image again, or run ${step('sandbox-recover')}.`,
      },
    );
  }

  #paused(): LitterboxError {
    return new LitterboxError('SANDBOX_PAUSED', 'The container of the sandbox is paused.', {
      operation: 'runtime.spawn',
      provider: this.#engine.provider,
      hint: advice`Run ${step('sandbox-resume')}.`,
    });
  }
}
