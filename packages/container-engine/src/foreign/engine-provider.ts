import {
  type CallOptions,
  type ImageStore,
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
import { type ContainerProviderInput, engineOf } from '../container-parts.ts';
import { ContainerProvider } from '../container-provider.ts';
import type { Engine } from '../engine.ts';
import { Images } from '../images.ts';
import { layoutOf, sandboxLayoutOf } from '../layout.ts';
import { EngineHost } from './engine-host.ts';
import {
  ensureFilesContainer,
  type FilesRecord,
  hasFilesContainer,
  makeFilesVolume,
  removeFilesContainer,
} from './files-container.ts';
import { seesFiles } from './sees-files.ts';

/** What is known of an engine: that it sees the host's files, or where it has its own. */
type Place = { readonly version: 1; readonly sees: true } | FilesRecord;

/** A program that ends waits no longer for an engine that does not answer. */
const LAST_LOOK_MS = 3_000;
/** Of programs that end at the same time, the last one clears up. */
const OTHERS_END_MS = 1_000;

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
  readonly #here: ContainerProvider;
  #there: Promise<There> | undefined;

  constructor(input: ContainerProviderInput) {
    this.#input = input;
    this.name = input.flavour.provider;
    this.#engine = engineOf(input);
    this.#images = new Images(this.#engine);
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
    return await (await this.#chosen(spec, options)).create(spec, options);
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
    yield* this.#here.list(call);
    const there = await knowing;
    if (there) yield* there.list(call);
  }

  async remove(id: SandboxId, call?: RemoveOptions): Promise<void> {
    const holding = await this.#holding(id, call);
    await holding.remove(id, call);
    if (holding !== this.#here) await this.#tidy();
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
    const there = await this.#known(call);
    if (there) yield* there.setups.list(call);
  }

  /** Where a sandbox is, or would be. */
  async #holding(id: SandboxId, call?: CallOptions): Promise<ContainerProvider> {
    call?.signal?.throwIfAborted();
    const { directory } = sandboxLayoutOf(layoutOf(this.#input.directory), id);
    if (await this.#input.host.files.stat(directory, call)) return this.#here;
    return (await this.#known(call)) ?? this.#here;
  }

  /** Where the next one is made. */
  async #chosen({ root, copyOf }: SandboxSpec, options?: ProgressOptions): Promise<ContainerProvider> {
    options?.signal?.throwIfAborted();
    if (copyOf !== undefined) return await this.#holding(copyOf, options);
    if (root.type !== 'image') return this.#here; // which refuses it
    const key = await this.#key(options);
    const known = await this.#read(key, options);
    const place = known ?? (await this.#decide(key, root.reference, options));
    return isOwn(place) ? (await this.#over(place)).provider : this.#here;
  }

  async #decide(key: string, reference: string, options?: ProgressOptions): Promise<Place> {
    const { host, directory } = this.#input;
    const engines = `${directory}/engines`;
    const facts = await this.#here.facts(options);
    const image = await this.#images.get(reference, facts, options);
    for (const path of [directory, engines]) await host.files.makeDirectory(path, { ...options, mode: 0o700 });
    const sees = !facts.isElsewhere && (await seesFiles(this.#engine, host, engines, image.id, options));
    const place: Place = sees ? { version: 1, sees } : await makeFilesVolume(this.#engine, image.id, options);
    // A directory that holds something is not replaced: of two that decide at once, one is right.
    const unfinished = `${engines}/${UNFINISHED}${crypto.randomUUID()}`;
    await host.files.makeDirectory(unfinished, { ...options, mode: 0o700 });
    await host.files.write(`${unfinished}/${FILE}`, new TextEncoder().encode(JSON.stringify(place)), options);
    try {
      await host.files.rename(unfinished, `${engines}/${key}`);
      return place;
    } catch (error) {
      await host.files.remove(unfinished);
      const first = await this.#read(key);
      if (isOwn(place))
        await this.#engine.askIfThere('provider.create', (docker) => docker.getVolume(place.name).remove());
      if (!first) throw error;
      return first;
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

  /** The other place, if there is one; the engine is asked only where one was ever made. */
  async #known(call?: CallOptions): Promise<ContainerProvider | undefined> {
    const { host, directory } = this.#input;
    const names = (await host.files.list(`${directory}/engines`, call)) ?? [];
    const places = new Map(
      await Promise.all(names.map(async ({ name }) => [name, await this.#read(name, call)] as const)),
    );
    if (![...places.values()].some((place) => place && isOwn(place))) return undefined;
    const place = places.get(await this.#key(call));
    return place && isOwn(place) ? (await this.#over(place)).provider : undefined;
  }

  /** Names the engine in the directory of engines. */
  async #key(call?: CallOptions): Promise<string> {
    const { identity } = await this.#here.facts(call);
    return (await sha256(new TextEncoder().encode(identity))).slice(0, 32);
  }

  async #read(key: string, call?: CallOptions): Promise<Place | undefined> {
    const path = `${this.#input.directory}/engines/${key}/${FILE}`;
    const bytes = await this.#input.host.files.read(path, call);
    if (!bytes) return undefined;
    try {
      const place = JSON.parse(new TextDecoder().decode(bytes)) as Place;
      if (place.version === 1 && (!isOwn(place) || place.directory.startsWith('/'))) return place;
    } catch {
      // said below
    }
    throw new LitterboxError('STATE_CORRUPT', `What is known of the engine (${path}) cannot be read.`, {
      operation: 'provider.open',
      provider: this.name,
      hint: 'Remove that directory: it is found out anew.',
    });
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

const FILE = 'place.json';

function isOwn(place: Place): place is FilesRecord {
  return !('sees' in place);
}
