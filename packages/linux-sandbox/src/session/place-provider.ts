import {
  quoted,
  type ProviderKey,
  isLitterboxError,
  LitterboxError,
  SandboxId,
  encodeRaw,
  type CallOptions,
  type ProgressOptions,
  type Host,
  type LimitName,
  type ProbeReport,
  type ProviderTraits,
  type RemoveOptions,
  type RuntimeStatus,
  type SandboxProvider,
  type SandboxSpec,
  type SandboxRuntime,
} from '@litterbox/core/provider';
import { baseEnvironment, alreadyThere, cannotHonour } from '@litterbox/sandbox-kit';
import { ensureBaseTree } from '../directory/base-trees.ts';
import { runScriptOrFail } from '../directory/run-script.ts';
import { makeUnfinished, REMOVE_TREE, sweepUnfinished, UNFINISHED } from '../directory/unfinished.ts';
import { endSessionScript, type SessionLeavings } from './end-session.ts';
import type { Isolation, PlaceLimits } from './isolation.ts';
import { launchPlace } from './launch-place.ts';
import { type PlaceFiles, placeFilesOf } from './place-files.ts';
import type { PlaceMeta } from './place-meta.ts';
import { PlaceRuntime } from './place-runtime.ts';
import { readDescription } from '../directory/read-description.ts';

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

const DEFAULT_LIMITS: PlaceLimits = { memoryBytes: 4 * 2 ** 30, cpus: 2, processes: 512, openFiles: 4096 };

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
  readonly #host: Host;
  readonly #root: string;
  readonly #isolation: Isolation;
  #mechanism: Promise<string> | undefined;

  constructor({ key, host, directory, isolation }: PlaceProviderOptions) {
    this.name = key ?? isolation.name;
    this.traits = {
      isolation: isolation.isolation,
      limits: isolation.limits,
      workdir: 'repository-path',
      roots: ['machine'],
    };
    this.#host = host;
    this.#root = `${directory}/${isolation.name}`;
    this.#isolation = isolation;
  }

  async probe(call?: CallOptions): Promise<ProbeReport> {
    const checks = await this.#isolation.checks(this.#host, call);
    return { usable: checks.every(({ status }) => status !== 'failed'), checks };
  }

  async create(spec: SandboxSpec, options?: ProgressOptions): Promise<SandboxRuntime> {
    options?.signal?.throwIfAborted();
    await this.#assertUsable(options);
    const meta = this.#metaOf(spec);
    const files = this.#filesOf(spec.id);
    if (await this.#host.files.stat(files.directory, options)) throw alreadyThere(this.name, spec.id);
    for (const name of ['', '/bases', '/sandboxes', '/playgrounds'])
      await this.#host.files.makeDirectory(`${this.#root}${name}`, { ...options, mode: 0o700 });
    const { user } = this.#isolation;
    const { uid } = await this.#host.facts(options);
    const base = await ensureBaseTree(
      { host: this.#host, bases: `${this.#root}/bases`, ...(uid === 0 && { owner: user }) },
      spec.workspace,
      options,
    );
    await this.#prepare(meta, base, uid === 0, options);
    let runtime: PlaceRuntime | undefined;
    try {
      runtime = this.#runtime(meta);
      options?.signal?.throwIfAborted();
      await runtime.warm(options);
      // What has a change time before this moment is the base's.
      const first = { ...meta, firstMark: await runtime.mark(options) };
      await this.#host.files.write(files.meta, encodeRaw(JSON.stringify(first)));
      options?.signal?.throwIfAborted();
      runtime.beginAt(first.firstMark);
      return runtime;
    } catch (error) {
      await runtime?.[Symbol.asyncDispose]();
      await this.remove(spec.id);
      options?.signal?.throwIfAborted();
      throw error;
    }
  }

  async open(id: SandboxId, call?: CallOptions): Promise<SandboxRuntime> {
    const kept = await readDescription<PlaceMeta>(this.#host, this.#filesOf(id), this.name, id, call);
    await this.#assertUsable(call);
    return this.#runtime(kept);
  }

  async *list(call?: CallOptions): AsyncGenerator<RuntimeStatus, void, undefined> {
    for (const { name } of (await this.#host.files.list(`${this.#root}/sandboxes`, call)) ?? []) {
      if (!SandboxId.is(name)) continue;
      const files = this.#filesOf(name);
      const [meta, paused, stopped] = await Promise.all(
        [files.meta, files.pausedMark, files.stoppedMark].map((path) => this.#host.files.stat(path, call)),
      );
      yield { id: name, state: meta === undefined ? 'broken' : paused ? 'paused' : stopped ? 'stopped' : 'running' };
    }
  }

  async remove(id: SandboxId, call?: RemoveOptions): Promise<void> {
    call?.signal?.throwIfAborted();
    const { directory } = this.#filesOf(id);
    const sandboxes = `${this.#root}/sandboxes`;
    const gone = quoted(`${sandboxes}/${UNFINISHED}${id}`);
    const own = call?.keepPlayground ? '' : ` && remove_tree ${quoted(`${this.#root}/playgrounds/${id}`)}`;
    // Renamed first: from then on it is in no list, and a removal that was killed half-way is finished by the next sweep. Again while
    // it is there: a program that cleans up may make it anew behind another removal (runc makes the directory that it is told).
    const script = `${REMOVE_TREE}( ${endSessionScript(directory, this.#leavings(id))} ) || exit 1
n=0
while cd ${quoted(directory)} 2>/dev/null; do
n=$((n+1)); [ $n -le 20 ] || exit 1
(
${this.#isolation.clean({ id, directory })}
) || exit 1
cd /; mv -T ${quoted(directory)} ${gone} 2>/dev/null || :; remove_tree ${gone} || exit 1
done
remove_tree ${gone}${own} || exit 1
${sweepUnfinished(sandboxes)}
${sweepUnfinished(`${this.#root}/bases`)}`;
    await runScriptOrFail(this.#host, 'provider.remove', script);
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #metaOf({ id, slug, repositoryId, root, limits, strategy, copyOf, ...spec }: SandboxSpec): PlaceMeta {
    if (copyOf !== undefined)
      throw cannotHonour(this.name, 'a copy of a sandbox', 'Make a new one, or use another provider.');
    if (root.type !== 'machine')
      throw cannotHonour(
        this.name,
        `a root file system of type ${root.type}`,
        'Leave it out, or use another provider.',
      );
    if (strategy !== undefined)
      throw cannotHonour(this.name, `the strategy ${strategy}`, 'Leave it out: its sandboxes have plain copies.');
    for (const name of Object.keys(limits) as LimitName[])
      if (limits[name] !== undefined && !this.traits.limits.includes(name))
        throw cannotHonour(this.name, `the limit ${name}`, 'Leave it out, or use a provider that can enforce it.');
    if (/^\/(usr|bin|sbin|lib|lib32|lib64|libx32|etc|run)(\/|$)/.test(spec.workdir))
      throw cannotHonour(this.name, `the workdir ${spec.workdir}`, 'Set workspace.workdir to /src.');
    return {
      version: 1,
      id,
      slug,
      repositoryId,
      workdir: spec.workdir,
      environment: spec.environment,
      limits: { ...DEFAULT_LIMITS, ...limits },
      playground: spec.playground,
      allowDegraded: spec.allowDegraded,
    };
  }

  /** The sandbox's directory, complete before it gets its name. */
  async #prepare(meta: PlaceMeta, base: string, isRoot: boolean, call?: CallOptions): Promise<void> {
    const { directory } = this.#filesOf(meta.id);
    const name = `${UNFINISHED}${crypto.randomUUID()}`;
    const unfinished = quoted(`${this.#root}/sandboxes/${name}`);
    const playground = quoted(`${this.#root}/playgrounds/${meta.playground}`);
    const { uid, gid } = this.#isolation.user;
    const script = `umask 022
${makeUnfinished(`${this.#root}/sandboxes`, name)} || exit 1
trap 'cd /; rm -rf ${unfinished}' EXIT
chmod 711 . && mkdir -m 711 io && mkdir root home ws ${playground} 2>/dev/null
set -e
[ -d home ] && [ -d ws ] && [ -d ${playground} ]
mkfifo -m 600 stop.fifo
: >start.lock; : >alive.lock; : >clients.lock
cp -a --reflink=auto ${quoted(base)}/. ws/
${isRoot ? `chown ${uid}:${gid} home ${playground} ws` : ''}
printf %s ${quoted(JSON.stringify(meta))} >meta.json
mv -T ${unfinished} ${quoted(directory)}
trap - EXIT`;
    try {
      await runScriptOrFail(this.#host, 'provider.create', script, call);
    } catch (error) {
      if (!isLitterboxError(error, 'DISK_FULL') && (await this.#host.files.stat(`${directory}/meta.json`)))
        throw alreadyThere(this.name, meta.id);
      throw error;
    }
  }

  #runtime(meta: PlaceMeta): PlaceRuntime {
    const host = this.#host;
    const isolation = this.#isolation;
    const files = this.#filesOf(meta.id);
    const environment = { ...baseEnvironment(meta.slug, '/usr/local/bin:/usr/bin:/bin'), ...meta.environment };
    const { id, workdir, allowDegraded, firstMark } = meta;
    return new PlaceRuntime({
      provider: this.name,
      host,
      id,
      files,
      workdir,
      environment,
      allowDegraded,
      // An ordinary user's networks cannot be entered this way.
      isRoot: true,
      hasScannerPlace: false,
      scanned: { changes: workdir, workspace: workdir },
      ...(firstMark !== undefined && { firstMark }),
      freeze: (isFrozen) =>
        `cd ${quoted(files.directory)} || exit 0\n${isolation.freeze({ id, directory: files.directory }, isFrozen)}`,
      leavings: this.#leavings(id),
      freezeHint: 'Use pause --stop.',
      launch: async (call) =>
        await launchPlace(
          {
            provider: this.name,
            host,
            root: this.#root,
            files,
            meta,
            isolation,
            environment,
            mechanism: await this.#describe(call),
          },
          call,
        ),
    });
  }

  #describe(call?: CallOptions): Promise<string> {
    this.#mechanism ??= this.#isolation.mechanism(this.#host, call).catch((error: unknown) => {
      this.#mechanism = undefined;
      throw error;
    });
    return this.#mechanism;
  }

  /** For a shell that is in the sandbox's directory. */
  #leavings(id: SandboxId): SessionLeavings {
    const place = { id, directory: this.#filesOf(id).directory };
    return { thaw: this.#isolation.freeze(place, false), empty: this.#isolation.clean(place) };
  }

  #filesOf(id: SandboxId): PlaceFiles {
    return placeFilesOf(`${this.#root}/sandboxes/${id}`);
  }

  async #assertUsable(call?: CallOptions): Promise<void> {
    const failed = (await this.#isolation.checks(this.#host, call)).find(({ status }) => status === 'failed');
    if (!failed) return;
    throw new LitterboxError('UNAVAILABLE', `Sandboxes cannot run on this machine: ${failed.finding}.`, {
      operation: 'provider.create',
      provider: this.name,
      hint: failed.remedy ?? 'Run litterbox doctor.',
    });
  }
}
