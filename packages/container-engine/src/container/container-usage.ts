import {
  type CallOptions,
  decodeRaw,
  encodeRaw,
  isLitterboxError,
  type ResourceUsage,
  type SandboxId,
} from '@litterbox/core/provider';
import { KEPT_TIME } from '@litterbox/linux-sandbox';
import type { ContainerDirectories } from '../engine/container-directories.ts';
import type { Engine } from '../engine/engine.ts';
import { findContainer } from './find-container.ts';

/** Processor time of the runs of a container that ended. Engines count a run alone, and forget it with its end. */
interface KeptTime {
  readonly nanoseconds: number;
  /** The run before the next one is in it. */
  readonly isCounted?: true;
  /** A run is not in it: its container ended by itself, or by somebody else. */
  readonly isLeast?: true;
}

const NOTHING: KeptTime = { nanoseconds: 0 };

/** The resources that containers use, and their processor time over all of their runs. */
export class ContainerUsage {
  readonly #engine: Engine;
  readonly #directories: ContainerDirectories;

  constructor(engine: Engine, directories: ContainerDirectories) {
    this.#engine = engine;
    this.#directories = directories;
  }

  async of(id: SandboxId, options?: CallOptions): Promise<ResourceUsage> {
    const [found, kept] = await Promise.all([findContainer(this.#engine, id, options), this.#read(id, options)]);
    const now = found && found.state !== 'ended' ? await this.#now(found.id, options) : undefined;
    if (!now) return { memoryBytes: 0, processes: 0, ...timeOf(kept.isCounted ? kept : uncounted(kept)) };
    const { nanoseconds, ...rest } = now;
    return { ...rest, ...timeOf(kept.isCounted ? kept : plus(kept, nanoseconds)) };
  }

  /**
   * Keeps what a container used that is about to end, once it has ended. One that cannot be asked is as one that ended by itself.
   *
   * @param container the engine's id of it
   */
  async keepOver(id: SandboxId, container: string, end: () => Promise<void>, options?: CallOptions): Promise<void> {
    const now = await this.#now(container, options).catch(() => undefined);
    options?.signal?.throwIfAborted();
    await end();
    const kept = await this.#read(id);
    // Several may end it at once.
    if (now?.nanoseconds !== undefined && !kept.isCounted)
      await this.#write(id, { ...plus(kept, now.nanoseconds), isCounted: true });
  }

  /** Another run has begun. */
  async begin(id: SandboxId): Promise<void> {
    const { isCounted, ...kept } = await this.#read(id);
    await this.#write(id, isCounted ? kept : uncounted(kept));
  }

  async #now(
    container: string,
    options?: CallOptions,
  ): Promise<(Pick<ResourceUsage, 'memoryBytes' | 'processes'> & { readonly nanoseconds?: number }) | undefined> {
    const stats = await this.#engine.askIfThere(
      'runtime.usage',
      async (docker) => docker.getContainer(container).stats({ stream: false, 'one-shot': true }),
      options,
    );
    if (!stats) return undefined;
    const [memoryBytes, nanoseconds, processes] = [
      countOf(stats.memory_stats?.usage),
      countOf(stats.cpu_stats?.cpu_usage?.total_usage),
      countOf(stats.pids_stats?.current),
    ];
    return {
      ...(memoryBytes !== undefined && { memoryBytes }),
      ...(nanoseconds !== undefined && { nanoseconds }),
      ...(processes !== undefined && { processes }),
    };
  }

  async #read(id: SandboxId, options?: CallOptions): Promise<KeptTime> {
    const bytes = await this.#directories.host.files.read(this.#fileOf(id), options);
    if (!bytes) return NOTHING;
    try {
      const kept = JSON.parse(decodeRaw(bytes)) as { readonly [Key in keyof KeptTime]?: unknown } | null;
      return {
        nanoseconds: countOf(kept?.nanoseconds) ?? 0,
        ...(kept?.isCounted === true && { isCounted: true }),
        ...(kept?.isLeast === true && { isLeast: true }),
      };
    } catch {
      return uncounted(NOTHING);
    }
  }

  async #write(id: SandboxId, kept: KeptTime): Promise<void> {
    await this.#directories.host.files
      .write(this.#fileOf(id), encodeRaw(JSON.stringify(kept)))
      .catch((error: unknown) => {
        if (!isLitterboxError(error, 'NOT_FOUND')) throw error; // it is being removed
      });
  }

  #fileOf(id: SandboxId): string {
    return `${this.#directories.filesOf(id).directory}/${KEPT_TIME}`;
  }
}

const uncounted = ({ nanoseconds }: KeptTime): KeptTime => ({ nanoseconds, isLeast: true });

/** Nothing where the engine does not count. */
const plus = ({ isLeast, nanoseconds }: KeptTime, more: number | undefined): KeptTime =>
  more === undefined ? NOTHING : { nanoseconds: nanoseconds + more, ...(isLeast && { isLeast }) };

/** Nothing where no run could be counted. */
function timeOf({ nanoseconds, isLeast }: KeptTime): Pick<ResourceUsage, 'cpuMs' | 'isCpuLeast'> {
  return nanoseconds === 0 ? {} : { cpuMs: nanoseconds / 1e6, ...(isLeast && { isCpuLeast: true }) };
}

/** What an engine counts; undefined where it does not, for which some say 0. */
const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
