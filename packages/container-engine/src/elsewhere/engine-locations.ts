import {
  type CallOptions,
  isLitterboxError,
  LitterboxError,
  type ProgressOptions,
  type SandboxId,
  type SandboxSpec,
  sha256,
  advice,
  step,
} from '@litterbox/core/provider';
import { type EngineAddress, isElsewhere, showAddress } from '../address/engine-address.ts';
import type { ContainerProviderInput } from '../sandbox/container-parts.ts';
import { ContainerProvider } from '../sandbox/container-provider.ts';
import type { Engine } from '../engine/engine.ts';
import { Images } from '../engine/images.ts';
import { layoutOf, sandboxLayoutOf } from '../engine/layout.ts';
import { EngineHost } from '../far-files/engine-host.ts';
import { SandboxLocations, isOwn, type Place } from './sandbox-locations.ts';
import { ensureFilesContainer, type FilesRecord, makeFilesVolume } from '../far-files/file-access-container.ts';
import { seesFiles } from './probe-shared-files.ts';

/** The place on the engine's own machine. */
export interface RemoteEngine {
  readonly provider: ContainerProvider;
  readonly host: EngineHost;
  readonly record: FilesRecord;
}

/** The engine that is reached, beside others. */
export interface Known {
  /** Over its own files, where it has some. */
  readonly there?: ContainerProvider;
  /** Whether it can be the one that sandboxes in the host's directories are on. */
  readonly seesHost: boolean;
  /** Keys of other engines with files of their own. */
  readonly others: readonly string[];
}

/** What {@link EngineLocations} decides between. */
export interface EngineSitesInput {
  readonly input: ContainerProviderInput;
  readonly engine: Engine;
  /** The provider over the host's own directories. */
  readonly here: ContainerProvider;
}

/**
 * Decides where a sandbox is: in directories of the host, in a volume of the engine that is reached, or on an engine that is not. What it
 * found out is kept in {@link SandboxLocations}.
 */
export class EngineLocations {
  readonly places: SandboxLocations;
  readonly #input: ContainerProviderInput;
  readonly #engine: Engine;
  readonly #here: ContainerProvider;
  #there: Promise<RemoteEngine> | undefined;

  constructor({ input, engine, here }: EngineSitesInput) {
    this.#input = input;
    this.#engine = engine;
    this.#here = here;
    this.places = new SandboxLocations(engine.provider, input.host, `${input.directory}/engines`);
  }

  /** The place on the engine's own machine, if it was used by this instance. */
  async used(): Promise<RemoteEngine | undefined> {
    return await this.#there?.catch(() => undefined);
  }

  /**
   * Where a sandbox is, or would be. Behind a socket of the host an engine of the host is expected; where a virtual machine listens there,
   * who makes a container finds out.
   *
   * @param isCertain asks there too
   * @throws LitterboxError `UNAVAILABLE` when that is an engine that is not the one that is reached
   */
  async holding(id: SandboxId, options?: CallOptions, isCertain = false): Promise<ContainerProvider> {
    options?.signal?.throwIfAborted();
    const { host, directory } = this.#input;
    const [stat, address] = await Promise.all([
      host.files.stat(sandboxLayoutOf(layoutOf(directory), id).directory, options),
      this.#address(options),
    ]);
    const isHere = stat !== undefined;
    if (isHere && !isCertain && (address === undefined || address.type === 'unix')) return this.#here;
    const known = await this.known(options, isHere).catch((error: unknown) => {
      if (isHere && isLitterboxError(error, 'STATE_CORRUPT')) return undefined; // what is here needs no engine's files
      throw error;
    });
    if (!known) return this.#here;
    if (isHere && !known.seesHost) throw await this.#elsewhere(id, undefined, options);
    if (isHere) return this.#here;
    for (const key of known.others)
      if ((await this.places.sandboxes(key, options)).includes(id)) throw await this.#elsewhere(id, key, options);
    return known.there ?? this.#here;
  }

  /** Where the next one is made; with the engine's key where that has files of its own. */
  async chosen(
    { root, copyOf }: SandboxSpec,
    options?: ProgressOptions,
  ): Promise<{ readonly provider: ContainerProvider; readonly key?: string }> {
    options?.signal?.throwIfAborted();
    if (copyOf !== undefined) return { provider: await this.holding(copyOf, options) };
    if (root.type !== 'image') return { provider: this.#here }; // which refuses it
    const key = await this.key(options);
    const known = await this.places.read(key, options);
    const place = known ?? (await this.#decide(key, root.reference, options));
    return isOwn(place) ? { provider: (await this.#over(place)).provider, key } : { provider: this.#here };
  }

  async #decide(key: string, reference: string, options?: ProgressOptions): Promise<Place> {
    const { host, directory } = this.#input;
    const engines = `${directory}/engines`;
    const facts = await this.#here.facts(options);
    const image = await new Images(this.#engine).get(reference, facts, options);
    for (const path of [directory, engines]) await host.files.makeDirectory(path, { ...options, mode: 0o700 });
    const sees = !facts.isElsewhere && (await seesFiles(this.#engine, host, engines, image.id, options));
    const place: Place = sees ? { version: 1, sees } : await makeFilesVolume(this.#engine, image.id, options);
    const removeVolume = async () => {
      if (isOwn(place))
        await this.#engine.askIfThere('provider.create', (docker) => docker.getVolume(place.name).remove());
    };
    try {
      const kept = await this.places.keep(key, place, options);
      if (kept !== place) await removeVolume();
      return kept;
    } catch (error) {
      await removeVolume();
      throw error;
    }
  }

  /**
   * What is known of engines with files of their own. The engine is asked only where one was ever used, or is used now.
   *
   * @param isNeeded whether to find out where the engine is
   */
  async known(options?: CallOptions, isNeeded = false): Promise<Known | undefined> {
    const files = await this.places.files(options);
    if (files.length === 0 && !(isNeeded && (await this.#isElsewhere(options)))) return undefined;
    const key = await this.key(options);
    const own = files.find((one) => one.key === key);
    const others = files.flatMap((one) => (one === own ? [] : [one.key]));
    if (own) return { there: (await this.#over(own.record)).provider, seesHost: false, others };
    const { isElsewhere: isFar } = await this.#here.facts(options);
    return { seesHost: !isFar, others };
  }

  async #isElsewhere(options?: CallOptions): Promise<boolean> {
    const address = await this.#address(options);
    return address !== undefined && isElsewhere(address);
  }

  /** `undefined` for one that is not found, which is told of by who asks it. */
  async #address(options?: CallOptions): Promise<EngineAddress | undefined> {
    try {
      return await this.#engine.address(options);
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
      return undefined;
    }
  }

  /** Names the engine in the directory of engines. */
  async key(options?: CallOptions): Promise<string> {
    const { identity } = await this.#here.facts(options);
    return (await sha256(new TextEncoder().encode(identity))).slice(0, 32);
  }

  /** @param key of the engine that has the sandbox; absent: one that sees the host's files */
  async #elsewhere(id: SandboxId, key: string | undefined, options?: CallOptions): Promise<LitterboxError> {
    const place = key === undefined ? undefined : await this.places.read(key, options);
    const reached = place && isOwn(place) ? place.address : undefined;
    const { title } = this.#engine;
    const now = showAddress(await this.#engine.address(options));
    return new LitterboxError(
      'UNAVAILABLE',
      `The sandbox ${id} is on another engine${reached === undefined ? '' : `, which was at ${reached},`} than the one that is reached now, at ${now}.`,
      {
        operation: 'provider.open',
        provider: this.#engine.provider,
        hint:
          key === undefined
            ? `Use the ${title} of this machine again, which made it.`
            : advice`Name that engine again, as when it was made. If it is gone for good, remove ${this.places.directoryOf(key)}; then ${step('sandbox-recover')} builds the sandbox from its last revision.`,
        facts: { now, ...(reached !== undefined && { reached }) },
      },
    );
  }

  async #over(record: FilesRecord): Promise<RemoteEngine> {
    this.#there ??= (async () => {
      const engine = this.#engine;
      engine.watchAll(); // through it goes every question about a file, and such an engine can be paused with its machine
      const host = new EngineHost({ engine, container: (call) => ensureFilesContainer(engine, record, call) });
      const provider = new ContainerProvider({
        ...this.#input,
        engine,
        host,
        isRoot: true,
        directory: record.directory,
        isConfined: true,
        imageNotes: { host: this.#input.host, directory: layoutOf(this.#input.directory).images },
      });
      return { provider, host, record };
    })();
    return await this.#there;
  }
}
