import { type CallOptions, failpoint, SandboxId } from '@litterbox/core/provider';
import { isObjectOf } from '@litterbox/linux-sandbox';
import type Docker from 'dockerode';
import { homeVolume, workspaceVolume } from './container-options.ts';
import type { ContainerPauses } from './container-pauses.ts';
import type { ContainerUsage } from './container-usage.ts';
import { type Engine, WORK_MS } from '../engine/engine.ts';
import { hasEndedAlready, isBeingRemoved } from '../engine/engine-answers.ts';
import type { EngineFlavour } from '../engine/engine-flavour.ts';
import { findContainer } from './find-container.ts';
import { LABELS } from '../engine/labels.ts';
import { type Layout, sandboxLayoutOf } from '../engine/layout.ts';
import { noAnswer } from '../engine/invalid-answer.ts';
import { upperDirectories } from './overlay-volumes.ts';
import type { SandboxDisks } from './sandbox-disks.ts';
import type { Sidecars } from './sidecars.ts';

/** How long a container that was killed may take to end before what may hold it is looked for. It takes some hundred on a busy machine. */
const HELD_MS = 1_000;

export interface ContainerEndsInput {
  readonly engine: Engine;
  readonly layout: Layout;
  readonly flavour: EngineFlavour;
  readonly pauses: ContainerPauses;
  readonly disks: SandboxDisks;
  readonly sidecars: Sidecars;
  readonly usage: ContainerUsage;
}

/** What an engine lists: with labels and options that are texts. */
function isListed(value: unknown): boolean {
  if (!isObjectOf(value, () => true)) return false;
  const { Labels, Options } = value as Readonly<Record<'Labels' | 'Options', unknown>>;
  const isText = (text: unknown) => typeof text === 'string';
  return [Labels, Options].every((one) => one === undefined || one === null || isObjectOf(one, isText));
}

/** How containers are killed and removed, with their volumes and disks. */
export class ContainerEnds {
  readonly #engine: Engine;
  readonly #layout: Layout;
  readonly #flavour: EngineFlavour;
  readonly #pauses: ContainerPauses;
  readonly #disks: SandboxDisks;
  readonly #sidecars: Sidecars;
  readonly #usage: ContainerUsage;

  constructor({ engine, layout, flavour, pauses, disks, sidecars, usage }: ContainerEndsInput) {
    this.#engine = engine;
    this.#layout = layout;
    this.#flavour = flavour;
    this.#pauses = pauses;
    this.#disks = disks;
    this.#sidecars = sidecars;
    this.#usage = usage;
  }

  async kill(id: SandboxId, options?: CallOptions): Promise<void> {
    const found = await findContainer(this.#engine, id, options);
    if (!found || found.state === 'ended') return await this.#disks.unmount(id, options);
    const work = { ...options, limitMs: WORK_MS };
    if (found.state === 'paused') await this.#pauses.unpause(id, false, options);
    const end = async () => {
      await this.#kill(found.id, work);
      await this.#ended('runtime.stop', async (docker) => docker.getContainer(found.id).wait(), work);
    };
    await this.#usage.keepOver(id, found.id, () => this.#released(found.id, end), options);
    await this.#disks.unmount(id, options);
  }

  /** As {@link remove}, of a sandbox that stays: its container is made again when it is used. */
  async removeContainer(id: SandboxId, options?: CallOptions): Promise<void> {
    const found = await findContainer(this.#engine, id, options);
    const end = () => this.remove(id, options);
    await (found && found.state !== 'ended' ? this.#usage.keepOver(id, found.id, end, options) : end());
  }

  /** Container, what shares its network, and volumes; absent ones are fine. */
  async remove(id: SandboxId, options?: CallOptions): Promise<void> {
    const work = { ...options, limitMs: WORK_MS };
    const [found] = await Promise.all([findContainer(this.#engine, id, options), this.#sidecars.remove(id, options)]);
    if (found?.state === 'paused') await this.#pauses.unpause(id, false, options);
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
    failpoint('container.after-remove');
    await Promise.all(
      [workspaceVolume(id), homeVolume(id)].map((volume) =>
        this.#engine.askIfThere(
          'provider.remove',
          async (docker, signal) => docker.getVolume(volume).remove({ force: true, abortSignal: signal }),
          work,
        ),
      ),
    );
    failpoint('container.after-volumes-removed');
    await this.#disks.unmount(id, options);
  }

  /**
   * Ids of what the engine has of sandboxes of this provider's directory: also of those whose directory is gone, because the engine
   * finishes what it was asked for by a program that was killed meanwhile.
   */
  async known(options?: CallOptions): Promise<ReadonlySet<SandboxId>> {
    const filters = { label: [LABELS.id] };
    const [containers, { Volumes: volumes }] = await Promise.all([
      this.#engine.ask(
        'provider.remove',
        async (docker, signal) => docker.listContainers({ all: true, filters, abortSignal: signal }),
        options,
      ),
      this.#engine.ask(
        'provider.remove',
        async (docker, signal) => docker.listVolumes({ filters, abortSignal: signal }),
        options,
      ),
    ]);
    const found = new Set<SandboxId>();
    const look = (labels: Readonly<Record<string, string>> | null, paths: readonly unknown[]) => {
      const id = labels?.[LABELS.id] ?? '';
      // The label alone does not say whose it is: another user or another state directory has sandboxes on this engine too.
      const own = SandboxId.is(id) && `${sandboxLayoutOf(this.#layout, id).directory}/`;
      if (own && paths.some((path) => typeof path === 'string' && path.startsWith(own))) found.add(id);
    };
    if (![containers, volumes ?? []].every((list) => Array.isArray(list) && list.every(isListed)))
      throw noAnswer(this.#engine, 'provider.remove', 'its containers and volumes');
    for (const { Labels, Mounts } of containers)
      look(Labels, Array.isArray(Mounts) ? Mounts.map((mount?: { readonly Source?: unknown }) => mount?.Source) : []);
    for (const { Labels, Options } of volumes ?? []) look(Labels, upperDirectories(Options?.['o'] ?? ''));
    return found;
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

  async #kill(container: string, options?: CallOptions): Promise<void> {
    await this.#ended('runtime.stop', async (docker) => docker.getContainer(container).kill({ signal: 'SIGKILL' }), {
      ...options,
      limitMs: WORK_MS,
    });
  }

  /** Asks for an end. A container that has ended by itself meanwhile is fine: 404 and 409 say so. */
  async #ended(
    operation: string,
    question: (docker: Docker) => Promise<unknown>,
    options: CallOptions & { readonly limitMs: number },
  ): Promise<void> {
    await this.#engine.askIfThere(
      operation,
      async (docker) => {
        try {
          await question(docker);
        } catch (error) {
          if (!hasEndedAlready(error)) throw error;
        }
      },
      options,
    );
  }
}
