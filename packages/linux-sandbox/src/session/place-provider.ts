import {
  type CallOptions,
  type Host,
  LitterboxError,
  type ProbeReport,
  type ProgressOptions,
  type ProviderKey,
  type ProviderTraits,
  quoted,
  type RemoveOptions,
  type RuntimeStatus,
  type SandboxId,
  type SandboxProvider,
  type SandboxRuntime,
  type SandboxSpec,
  advice,
  step,
} from '@litterbox/core/provider';
import { ensureArtefactLayer } from '../artefacts/artefact-layer.ts';
import { createOrRollBack } from '../directory/create-or-roll-back.ts';
import { directoryLayout } from '../directory/directory-layout.ts';
import { layTree } from '../directory/lay-tree.ts';
import { SandboxDirectories } from '../directory/sandbox-directories.ts';
import { beginAtFirstMark } from './begin-at-first-mark.ts';
import { describePlace } from './describe-place.ts';
import { endSessionScript } from './end-session.ts';
import type { Isolation } from './isolation.ts';
import { leavingsOf, openPlace } from './open-place.ts';
import type { PlaceMeta } from './place-meta.ts';
import { makeEntries, SESSION_ENTRIES } from './session-entries.ts';

/** What a provider is composed of. */
export interface PlaceProviderOptions {
  /** What the provider is to be called. @defaultValue the isolation's name */
  readonly key?: ProviderKey;
  /** The machine that the sandboxes run on. */
  readonly host: Host;
  /** Absolute directory on the host in which the provider makes its own, with its name and mode 0700. */
  readonly directory: string;
  readonly isolation: Isolation;
}

/**
 * A provider of which only the isolation is somebody's own: base trees, a copy of them for each sandbox, home and playground,
 * processes, change scans, assurance, pauses, lists and removal are the same for all. Does nothing until it is asked.
 */
export function placeProvider(options: PlaceProviderOptions): SandboxProvider {
  return new PlaceProvider(options);
}

class PlaceProvider implements SandboxProvider {
  readonly name: ProviderKey;
  readonly traits: ProviderTraits;
  readonly #directories: SandboxDirectories<PlaceMeta>;
  readonly #isolation: Isolation;
  #mechanism: Promise<string> | undefined;

  constructor({ key, host, directory, isolation }: PlaceProviderOptions) {
    this.name = key ?? isolation.name;
    this.traits = {
      isolation: isolation.isolation,
      limits: isolation.limits,
      workdir: 'repository-path',
      roots: ['machine'],
      canBring: true,
    };
    const layout = directoryLayout(`${directory}/${isolation.name}`);
    this.#directories = new SandboxDirectories({ provider: this.name, host, layout });
    this.#isolation = isolation;
  }

  async probe(options?: CallOptions): Promise<ProbeReport> {
    const checks = await this.#isolation.checks(this.#directories.host, options);
    return { usable: checks.every(({ status }) => status !== 'failed'), checks };
  }

  async create(spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    await this.#assertUsable(options);
    const meta = describePlace(this.#isolation, spec);
    const { host, layout } = this.#directories;
    const { uid } = await host.facts(options);
    const { user } = this.#isolation;
    const owner = uid === 0 ? { owner: user } : {};
    const layers = { host, bases: layout.bases, provider: this.name, ...owner };
    const artefacts = spec.artefacts && (await ensureArtefactLayer(layers, spec.workspace, spec.artefacts, options));
    const playground = quoted(`${layout.playgrounds}/${meta.playground}`);
    const fill = () => `${makeEntries(SESSION_ENTRIES)}
mkdir ${playground} 2>/dev/null || [ -d ${playground} ]
cp -a --reflink=auto ${quoted(`${layout.bases}/${spec.workspace.key}`)}/. ws/
${artefacts === undefined ? '' : layTree(`${layout.bases}/${artefacts}`, '--reflink=auto')}${uid === 0 ? `chown ${user.uid}:${user.gid} home ${playground} ws` : ''}`;
    await this.#directories.stageOver(spec.workspace, owner, meta, fill, options);
    return await createOrRollBack(
      {
        open: () => this.#runtime(meta),
        begin: async (runtime) => {
          await runtime.warm(options);
          await beginAtFirstMark(this.#directories, runtime, meta, options);
        },
        remove: () => this.remove(spec.id),
      },
      options,
    );
  }

  async open(id: SandboxId, options?: CallOptions): Promise<SandboxRuntime> {
    const meta = await this.#directories.read(id, options);
    await this.#assertUsable(options);
    return this.#runtime(meta);
  }

  async *list(options?: CallOptions): AsyncGenerator<RuntimeStatus, void, undefined> {
    yield* this.#directories.list(options);
  }

  async remove(id: SandboxId, options?: RemoveOptions): Promise<void> {
    options?.signal?.throwIfAborted();
    const { directory } = this.#directories.filesOf(id);
    const place = { id, directory };
    const end = `( ${endSessionScript(directory, leavingsOf(this.#isolation, place))} ) || exit 1`;
    await this.#directories.remove(id, { end, clean: this.#isolation.clean(place) }, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #runtime(meta: PlaceMeta) {
    const mechanism = (options?: CallOptions) => this.#describe(options);
    return openPlace({ directories: this.#directories, isolation: this.#isolation, mechanism }, meta);
  }

  #describe(options?: CallOptions): Promise<string> {
    this.#mechanism ??= this.#isolation.mechanism(this.#directories.host, options).catch((error: unknown) => {
      this.#mechanism = undefined;
      throw error;
    });
    return this.#mechanism;
  }

  async #assertUsable(options?: CallOptions): Promise<void> {
    const checks = await this.#isolation.checks(this.#directories.host, options);
    const failed = checks.find(({ status }) => status === 'failed');
    if (!failed) return;
    throw new LitterboxError('UNAVAILABLE', `Sandboxes cannot run on this machine: ${failed.finding}.`, {
      operation: 'provider.create',
      provider: this.name,
      hint: failed.remedy ?? advice`Run ${step('machine-check')}.`,
    });
  }
}
