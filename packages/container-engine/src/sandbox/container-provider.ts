import { createOrRollBack } from '@litterbox/linux-sandbox';
import {
  type CallOptions,
  type ImageStore,
  isLitterboxError,
  LitterboxError,
  type ProbeReport,
  type ProgressOptions,
  type ProviderTraits,
  failpoint,
  type RemoveOptions,
  type RuntimeStatus,
  type SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
  type SetupStore,
  type SnapshotProvider,
} from '@litterbox/core/provider';
import { type ContainerParts, type ContainerProviderInput, containerParts } from './container-parts.ts';
import { ContainerRuntime } from '../container/container-runtime.ts';
import { createDirectory } from './create-directory.ts';
import type { EngineFacts } from '../engine/engine-facts.ts';
import { isOwnEngine } from '../engine/is-own-engine.ts';
import { forgetEngine } from '../engine/known-engines.ts';
import { layersOf, sandboxLayoutOf } from '../engine/layout.ts';
import { removeSandbox } from './remove-sandbox.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/** Sandboxes in containers of an engine on the same machine. Does nothing until it is asked. */
export class ContainerProvider implements SandboxProvider {
  readonly name: string;
  readonly traits: ProviderTraits;
  readonly setups: SetupStore;
  readonly images: ImageStore;
  readonly snapshots: SnapshotProvider;
  readonly #parts: ContainerParts;

  constructor(input: ContainerProviderInput) {
    this.#parts = containerParts(input);
    this.name = input.flavour.provider;
    this.traits = this.#parts.traits;
    this.setups = this.#parts.setups;
    this.images = this.#parts.installed;
    this.snapshots = this.#parts.snapshots;
  }

  /** The facts of the engine, by one look per process, as long as it succeeds; `probe` looks anew. */
  async facts(options?: CallOptions): Promise<EngineFacts> {
    return await this.#parts.facts(options);
  }

  async probe(options?: CallOptions): Promise<ProbeReport> {
    const { engine, look } = this.#parts;
    engine.forget();
    try {
      await forgetEngine(engine, look, options);
      const { checks } = await this.facts(options);
      return { usable: checks.every(({ status }) => status !== 'failed'), checks };
    } catch (error) {
      options?.signal?.throwIfAborted();
      if (!(error instanceof LitterboxError)) throw error;
      const remedy = error.details.hint ?? `Start ${engine.title}.`;
      const isAbsent = error.details.facts?.['isAbsent'] === true;
      const check = { name: 'engine', status: 'failed', finding: error.message, remedy } as const;
      return { usable: false, checks: [isAbsent ? { ...check, isAbsent } : check] };
    }
  }

  async create(spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    const { containers, directories } = this.#parts;
    const meta = await createDirectory(this.#parts, spec, options);
    failpoint('container.after-directory');
    const { unfinishedMark } = sandboxLayoutOf(directories.layout, spec.id);
    const finish = () => directories.host.files.remove(unfinishedMark);
    return await createOrRollBack(
      {
        open: () => this.#runtime(meta),
        begin: async (runtime) => {
          const container = await containers.create(meta, options, () => runtime.warm());
          const controls = containers.facts.assertControls(meta, container, options);
          const [read] = await Promise.all([controls, finish()]); // the engine has answered: it makes nothing more
          runtime.begin(container, read);
          failpoint('container.after-controls');
        },
        remove: async (error) => {
          // An engine that has answered makes nothing more.
          const hasAnswered = options?.signal?.aborted !== true && !isLitterboxError(error, 'UNAVAILABLE');
          if (hasAnswered) await finish();
          await this.remove(spec.id);
        },
      },
      options,
    );
  }

  async open(id: SandboxId, options?: CallOptions): Promise<SandboxRuntime> {
    return this.#runtime(await this.#parts.directories.read(id, options));
  }

  async *list(options?: CallOptions): AsyncGenerator<RuntimeStatus, void, undefined> {
    const { directories } = this.#parts;
    const here: RuntimeStatus[] = [];
    for await (const status of directories.list(options)) here.push(status);
    if (here.length === 0) return;
    const [facts, metas] = await Promise.all([
      this.#parts.facts({ ...options, isThere: true }),
      Promise.all(here.map(async ({ id }) => await directories.read(id, options).catch(() => undefined))),
    ]);
    for (const [index, status] of here.entries()) {
      const meta = metas[index];
      // One whose description cannot be read is broken, wherever it is.
      yield meta === undefined || isOwnEngine(meta, facts) ? status : { ...status, state: 'unreachable' };
    }
  }

  async remove(id: SandboxId, options?: RemoveOptions): Promise<void> {
    options?.signal?.throwIfAborted();
    await removeSandbox(this.#parts, id, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.engine[Symbol.asyncDispose]();
  }

  #runtime(meta: SandboxMeta): ContainerRuntime {
    const { containers, directories, engine } = this.#parts;
    const { host, layout } = directories;
    return new ContainerRuntime({
      engine,
      host,
      containers,
      marks: directories.marksOf(meta.id),
      sandbox: sandboxLayoutOf(layout, meta.id),
      layers: layersOf(layout, meta),
      meta,
    });
  }
}
