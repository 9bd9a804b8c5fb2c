import {
  type CallOptions,
  type ImageStore,
  isLitterboxError,
  LitterboxError,
  type ProbeReport,
  type ProgressOptions,
  type ProviderTraits,
  type RemoveOptions,
  type RuntimeStatus,
  type SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
  type SetupStore,
  type SnapshotProvider,
  sha256,
} from '@litterbox/core/provider';
import { UNFINISHED } from '@litterbox/linux-sandbox';
import { isElsewhere, showAddress } from '../address/engine-address.ts';
import { type ContainerProviderInput, engineOf } from '../container-parts.ts';
import { ContainerProvider } from '../container-provider.ts';
import type { Engine } from '../engine.ts';
import { Images } from '../images.ts';
import { layoutOf, sandboxLayoutOf } from '../layout.ts';
import { EngineHost } from './engine-host.ts';
import { EnginePlaces, isOwn, type Place } from './engine-places.ts';
import {
  ensureFilesContainer,
  type FilesRecord,
  hasFilesContainer,
  makeFilesVolume,
  removeFilesContainer,
} from './files-container.ts';
import { seesFiles } from './sees-files.ts';

/** A program that ends waits no longer for an engine that does not answer. */
const LAST_LOOK_MS = 3_000;
/** Of programs that end at the same time, the last one clears up. */
const OTHERS_END_MS = 1_000;

/** The engine that is reached, beside others. */
interface Known {
  /** Over its own files, where it has some. */
  readonly there?: ContainerProvider;
  /** Whether it can be the one that sandboxes in the host's directories are on. */
  readonly seesHost: boolean;
  /** Keys of other engines with files of their own. */
  readonly others: readonly string[];
}

/** The place on the engine's own machine. */
interface There {
  readonly provider: ContainerProvider;
  readonly host: EngineHost;
  readonly record: FilesRecord;
}

/**
 * Sandboxes in containers of an engine that may be on the same machine or not. Whether it sees the host's files is found out with the
 * first sandbox, and written down. One that does not gets a volume of its own, in which the provider keeps everything that it would
 * keep on the host, and a container through which it is reached; all else is the same.
 */
export class EngineProvider implements SandboxProvider {
  readonly name: string;
  readonly traits: ProviderTraits;
  readonly images: ImageStore;
  readonly setups: SetupStore;
  readonly snapshots: SnapshotProvider;
  readonly #input: ContainerProviderInput;
  readonly #engine: Engine;
  readonly #images: Images;
  readonly #places: EnginePlaces;
  readonly #here: ContainerProvider;
  #there: Promise<There> | undefined;

  constructor(input: ContainerProviderInput) {
    this.#input = input;
    this.name = input.flavour.provider;
    this.#engine = engineOf(input);
    this.#images = new Images(this.#engine);
    this.#places = new EnginePlaces(this.name, input.host, `${input.directory}/engines`);
    this.#here = new ContainerProvider({ ...input, engine: this.#engine });
    this.traits = this.#here.traits;
    const { images } = this.#here;
    this.images = {
      has: async (reference, key, call) => await images.has(reference, key, call), // the engine's, wherever its files are
      keep: async (id, key, call) => await (await this.#holding(id, call)).images.keep(id, key, call),
      remove: async (reference, key, call) => await images.remove(reference, key, call),
    };
    this.setups = {
      keep: async (id, key, call) => await (await this.#holding(id, call)).setups.keep(id, key, call),
      list: (call) => this.#keptSetups(call),
    };
    const { snapshots } = this.#here;
    // Nothing is copied on the engine's own machine, so that all there are are here.
    this.snapshots = {
      take: async (id, call) => await (await this.#holding(id, call)).snapshots.take(id, call),
      restore: async (id, name, call) => await (await this.#holding(id, call)).snapshots.restore(id, name, call),
      list: (call) => snapshots.list(call),
      remove: async (name, call) => await snapshots.remove(name, call),
    };
  }

  async probe(call?: CallOptions): Promise<ProbeReport> {
    return await this.#here.probe(call);
  }

  async create(spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    const { provider, key } = await this.#chosen(spec, options);
    if (key === undefined) return await provider.create(spec, options);
    await this.#places.note(key, spec.id, options);
    try {
      return await provider.create(spec, options);
    } catch (error) {
      if (!isLitterboxError(error, 'ALREADY_EXISTS')) await this.#places.forget(key, spec.id);
      throw error;
    }
  }

  async open(id: SandboxId, call?: CallOptions): Promise<SandboxRuntime> {
    return await (await this.#holding(id, call)).open(id, call);
  }

  async claim(id: SandboxId, spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    return await (await this.#holding(id, options)).claim(id, spec, options);
  }

  async *list(call?: CallOptions): AsyncGenerator<RuntimeStatus, void, undefined> {
    const knowing = this.#known(call);
    knowing.catch(() => {}); // told below
    const here = this.#here.list(call);
    const known = await knowing;
    if (!known) return yield* here;
    for await (const status of here) yield known.seesHost ? status : { ...status, state: 'unreachable' };
    if (known.there) yield* known.there.list(call);
    for (const key of known.others)
      for (const id of await this.#places.sandboxes(key, call)) yield { id, state: 'unreachable' };
  }

  async remove(id: SandboxId, call?: RemoveOptions): Promise<void> {
    const holding = await this.#holding(id, call);
    await holding.remove(id, call);
    if (holding === this.#here) return;
    await this.#places.forget(await this.#key(call), id);
    await this.#tidy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const there = await this.#there?.catch(() => undefined);
    // Another program that removed the last sandbox left the container, because this one worked in it.
    const isUnused = there !== undefined && (await this.#isUnused(there).catch(() => false));
    const own = new Set(there?.host.execIds);
    await there?.host[Symbol.asyncDispose]();
    if (there && isUnused)
      await removeFilesContainer(this.#engine, there.record, own, OTHERS_END_MS).catch(() => false);
    await this.#here[Symbol.asyncDispose]();
  }

  async *#keptSetups(call?: CallOptions) {
    yield* this.#here.setups.list(call);
    const known = await this.#known(call);
    if (known?.there) yield* known.there.setups.list(call);
  }

  /** Where a sandbox is, or would be. @throws LitterboxError `UNAVAILABLE` when that is an engine that is not the one that is reached. */
  async #holding(id: SandboxId, call?: CallOptions): Promise<ContainerProvider> {
    call?.signal?.throwIfAborted();
    const { host, directory } = this.#input;
    const isHere = (await host.files.stat(sandboxLayoutOf(layoutOf(directory), id).directory, call)) !== undefined;
    const known = await this.#known(call, isHere).catch((error: unknown) => {
      if (isHere && isLitterboxError(error, 'STATE_CORRUPT')) return undefined; // what is here needs no engine's files
      throw error;
    });
    if (!known) return this.#here;
    if (isHere && !known.seesHost) throw await this.#elsewhere(id, undefined, call);
    if (isHere) return this.#here;
    for (const key of known.others)
      if ((await this.#places.sandboxes(key, call)).includes(id)) throw await this.#elsewhere(id, key, call);
    return known.there ?? this.#here;
  }

  /** Where the next one is made; with the engine's key where that has files of its own. */
  async #chosen(
    { root, copyOf }: SandboxSpec,
    options?: ProgressOptions,
  ): Promise<{ readonly provider: ContainerProvider; readonly key?: string }> {
    options?.signal?.throwIfAborted();
    if (copyOf !== undefined) return { provider: await this.#holding(copyOf, options) };
    if (root.type !== 'image') return { provider: this.#here }; // which refuses it
    const key = await this.#key(options);
    const known = await this.#places.read(key, options);
    const place = known ?? (await this.#decide(key, root.reference, options));
    return isOwn(place) ? { provider: (await this.#over(place)).provider, key } : { provider: this.#here };
  }

  async #decide(key: string, reference: string, options?: ProgressOptions): Promise<Place> {
    const { host, directory } = this.#input;
    const engines = `${directory}/engines`;
    const facts = await this.#here.facts(options);
    const image = await this.#images.get(reference, facts, options);
    for (const path of [directory, engines]) await host.files.makeDirectory(path, { ...options, mode: 0o700 });
    const sees = !facts.isElsewhere && (await seesFiles(this.#engine, host, engines, image.id, options));
    const place: Place = sees ? { version: 1, sees } : await makeFilesVolume(this.#engine, image.id, options);
    const removeVolume = async () => {
      if (isOwn(place))
        await this.#engine.askIfThere('provider.create', (docker) => docker.getVolume(place.name).remove());
    };
    try {
      const kept = await this.#places.keep(key, place, options);
      if (kept !== place) await removeVolume();
      return kept;
    } catch (error) {
      await removeVolume();
      throw error;
    }
  }

  /**
   * With the last sandbox the container goes that its files were reached through, unless others work in it. The volume stays: base trees and what setups left
   * are in it, as they stay on a host.
   */
  async #tidy(): Promise<void> {
    const there = await this.#there;
    if (!there) return;
    if (await this.#isEmpty(there)) await removeFilesContainer(this.#engine, there.record, there.host.execIds);
  }

  /** Whether the container is there for nothing. It is not made to find that out. */
  async #isUnused(there: There): Promise<boolean> {
    const found = await hasFilesContainer(this.#engine, there.record, { limitMs: LAST_LOOK_MS });
    return found && (await this.#isEmpty(there, { signal: AbortSignal.timeout(LAST_LOOK_MS) }));
  }

  async #isEmpty({ host, record }: There, call?: CallOptions): Promise<boolean> {
    const { sandboxes, bases } = layoutOf(record.directory);
    const [left, trees] = await Promise.all([sandboxes, bases].map((path) => host.files.list(path, call)));
    return left?.length === 0 && !trees?.some(({ name }) => name.startsWith(UNFINISHED));
  }

  /**
   * What is known of engines with files of their own. The engine is asked only where one was ever used, or is used now.
   *
   * @param isNeeded whether to find out where the engine is
   */
  async #known(call?: CallOptions, isNeeded = false): Promise<Known | undefined> {
    const files = await this.#places.files(call);
    if (files.length === 0 && !(isNeeded && (await this.#isElsewhere(call)))) return undefined;
    const key = await this.#key(call);
    const own = files.find((one) => one.key === key);
    const others = files.flatMap((one) => (one === own ? [] : [one.key]));
    if (own) return { there: (await this.#over(own.record)).provider, seesHost: false, others };
    const { isElsewhere: isFar } = await this.#here.facts(call);
    return { seesHost: !isFar, others };
  }

  /** By its address alone. One that is not found is told of by who asks it. */
  async #isElsewhere(call?: CallOptions): Promise<boolean> {
    try {
      return isElsewhere(await this.#engine.address(call));
    } catch (error) {
      if (!isLitterboxError(error)) throw error;
      return false;
    }
  }

  /** Names the engine in the directory of engines. */
  async #key(call?: CallOptions): Promise<string> {
    const { identity } = await this.#here.facts(call);
    return (await sha256(new TextEncoder().encode(identity))).slice(0, 32);
  }

  /** @param key of the engine that has the sandbox; absent: one that sees the host's files */
  async #elsewhere(id: SandboxId, key: string | undefined, call?: CallOptions): Promise<LitterboxError> {
    const place = key === undefined ? undefined : await this.#places.read(key, call);
    const reached = place && isOwn(place) ? place.address : undefined;
    const { title } = this.#engine;
    const now = showAddress(await this.#engine.address(call));
    return new LitterboxError(
      'UNAVAILABLE',
      `The sandbox ${id} is on another engine${reached === undefined ? '' : `, which was at ${reached},`} than the one that is reached now, at ${now}.`,
      {
        operation: 'provider.open',
        provider: this.name,
        hint:
          key === undefined
            ? `Let ${title} be that of this machine again, where it was made.`
            : `Name that engine again, as when it was made. If it is gone for good, remove ${this.#places.directoryOf(key)}; then litterbox recover builds the sandbox from its last revision.`,
        facts: { now, ...(reached !== undefined && { reached }) },
      },
    );
  }

  async #over(record: FilesRecord): Promise<There> {
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
      });
      return { provider, host, record };
    })();
    return await this.#there;
  }
}
