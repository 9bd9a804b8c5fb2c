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
} from '@litterbox/core/provider';
import { UNFINISHED } from '@litterbox/linux-sandbox';
import { type ContainerProviderInput, engineOf } from '../sandbox/container-parts.ts';
import { ContainerProvider } from '../sandbox/container-provider.ts';
import type { Engine } from '../engine/engine.ts';
import { layoutOf } from '../engine/layout.ts';
import { EngineLocations, type RemoteEngine } from './engine-locations.ts';
import { hasFilesContainer, removeFilesContainer } from '../far-files/file-access-container.ts';

/** A program that ends waits no longer for an engine that does not answer. */
const LAST_LOOK_MS = 3_000;
/** Of programs that end at the same time, the last one clears up. */
const OTHERS_END_MS = 1_000;

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
  readonly #engine: Engine;
  readonly #here: ContainerProvider;
  readonly #sites: EngineLocations;

  constructor(input: ContainerProviderInput) {
    this.name = input.flavour.provider;
    this.#engine = engineOf(input);
    this.#here = new ContainerProvider({ ...input, engine: this.#engine });
    this.#sites = new EngineLocations({ input, engine: this.#engine, here: this.#here });
    this.traits = this.#here.traits;
    const { images } = this.#here;
    this.images = {
      has: async (reference, key, call) => await images.has(reference, key, call), // the engine's, wherever its files are
      keep: async (id, key, call) => await (await this.#sites.holding(id, call)).images.keep(id, key, call),
      remove: async (reference, key, call) => await images.remove(reference, key, call),
    };
    this.setups = {
      keep: async (id, key, call) => await (await this.#sites.holding(id, call)).setups.keep(id, key, call),
      list: (call) => this.#keptSetups(call),
    };
    const { snapshots } = this.#here;
    // Nothing is copied on the engine's own machine, so that all there are are here.
    this.snapshots = {
      take: async (id, call) => await (await this.#sites.holding(id, call)).snapshots.take(id, call),
      restore: async (id, name, call) => await (await this.#sites.holding(id, call)).snapshots.restore(id, name, call),
      list: (call) => snapshots.list(call),
      usage: async (names, call) => await snapshots.usage(names, call),
      remove: async (name, call) => await snapshots.remove(name, call),
    };
  }

  async probe(options?: CallOptions): Promise<ProbeReport> {
    return await this.#here.probe(options);
  }

  async create(spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    const { provider, key } = await this.#sites.chosen(spec, options);
    if (key === undefined) return await provider.create(spec, options);
    await this.#sites.places.note(key, spec.id, options);
    try {
      return await provider.create(spec, options);
    } catch (error) {
      if (!isLitterboxError(error, 'ALREADY_EXISTS')) await this.#sites.places.forget(key, spec.id);
      throw error;
    }
  }

  async open(id: SandboxId, options?: CallOptions): Promise<SandboxRuntime> {
    return await (await this.#sites.holding(id, options)).open(id, options);
  }

  async *list(options?: CallOptions): AsyncGenerator<RuntimeStatus, void, undefined> {
    // At once: each waits for the host.
    const both = Promise.all([this.#sites.known(options), collected(this.#here.list(options))]);
    const [known, here] = await both.catch((error: unknown) => {
      throw asUnreached(error);
    });
    if (!known) return yield* here;
    for (const status of here) yield known.seesHost ? status : { ...status, state: 'unreachable' };
    if (known.there) yield* known.there.list(options);
    for (const key of known.others)
      for (const id of await this.#sites.places.sandboxes(key, options)) yield { id, state: 'unreachable' };
  }

  async remove(id: SandboxId, options?: RemoveOptions): Promise<void> {
    const holding = await this.#sites.holding(id, options, true);
    await holding.remove(id, options);
    if (holding === this.#here) return;
    await this.#sites.places.forget(await this.#sites.key(options), id);
    await this.#tidy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const there = await this.#sites.used();
    // Another program that removed the last sandbox left the container, because this one worked in it.
    const isUnused = there !== undefined && (await this.#isUnused(there).catch(() => false));
    const own = new Set(there?.host.execIds);
    await there?.host[Symbol.asyncDispose]();
    if (there && isUnused)
      await removeFilesContainer(this.#engine, there.record, own, OTHERS_END_MS).catch(() => false);
    await this.#here[Symbol.asyncDispose]();
  }

  async *#keptSetups(options?: CallOptions) {
    yield* this.#here.setups.list(options);
    const known = await this.#sites.known(options);
    if (known?.there) yield* known.there.setups.list(options);
  }

  /**
   * With the last sandbox the container goes that its files were reached through, unless others work in it. The volume stays: base trees and what setups left
   * are in it, as they stay on a host.
   */
  async #tidy(): Promise<void> {
    const there = await this.#sites.used();
    if (!there) return;
    if (await this.#isEmpty(there)) await removeFilesContainer(this.#engine, there.record, there.host.execIds);
  }

  /** Whether the container is there for nothing. It is not made to find that out. */
  async #isUnused(there: RemoteEngine): Promise<boolean> {
    const found = await hasFilesContainer(this.#engine, there.record, { limitMs: LAST_LOOK_MS });
    return found && (await this.#isEmpty(there, { signal: AbortSignal.timeout(LAST_LOOK_MS) }));
  }

  async #isEmpty({ host, record }: RemoteEngine, options?: CallOptions): Promise<boolean> {
    const { sandboxes, bases } = layoutOf(record.directory);
    const [left, trees] = await Promise.all([sandboxes, bases].map((path) => host.files.list(path, options)));
    return left?.length === 0 && !trees?.some(({ name }) => name.startsWith(UNFINISHED));
  }
}

async function collected<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** An address that is refused, and a machine that is not the one that is meant, say as little of the sandboxes there as silence does. */
function asUnreached(error: unknown): unknown {
  if (!isLitterboxError(error) || !['engine.find', 'host.connect'].includes(error.details.operation ?? ''))
    return error;
  return new LitterboxError('UNAVAILABLE', error.message, error.details, { cause: error });
}
