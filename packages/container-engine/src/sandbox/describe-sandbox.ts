import { cannotHonour } from '@litterbox/sandbox-kit';
import {
  assertOwnPlayground,
  type BaseOver,
  type BaseTreesInput,
  CAN_MAKE_DISKS,
  describeCopy,
  describeDirectory,
  ensureArtefactLayer,
  ensureBaseOver,
  ensureBaseTree,
  ensureNewerFiles,
  type LayeredSetups,
  noDisks,
  notInCopies,
  runScript,
  SANDBOX_USER,
} from '@litterbox/linux-sandbox';
import {
  LIMIT_KEYS,
  type CallOptions,
  meetsOwnPlaces,
  type ProgressOptions,
  type ProviderTraits,
  type SandboxSpec,
  type WorkspaceSource,
} from '@litterbox/core/provider';
import { assertDiskSpeed } from '../engine/disk-speed.ts';
import type { EngineFacts } from '../engine/engine-facts.ts';
import type { Images } from '../engine/images.ts';
import type { InstalledImages } from './installed-images.ts';
import { setupDirectory } from '../engine/layout.ts';
import type { ContainerDirectories } from '../engine/container-directories.ts';
import type { SandboxMeta } from '../engine/sandbox-meta.ts';

/** Parts of the provider by which a description is decided, besides what is asked for. */
export interface DescribeInput {
  readonly directories: ContainerDirectories;
  readonly traits: ProviderTraits;
  readonly images: Images;
  readonly installed: InstalledImages;
  readonly setups: LayeredSetups<SandboxMeta>;
  /** The host is a container of the engine's own. */
  readonly isConfined: boolean;
}

/** Characters that the options of an overlay mount cannot carry. */
const UNMOUNTABLE = /[,:\\"'\s]/;

/** @throws LitterboxError `UNSUPPORTED` for what no container, or not this engine, can honour */
export async function assertSupported(
  { directories, traits, isConfined }: DescribeInput,
  spec: SandboxSpec,
  facts: EngineFacts,
  options?: CallOptions,
): Promise<void> {
  const { host, layout, provider } = directories;
  const { root, limits, workdir, strategy } = spec;
  if (strategy !== undefined)
    throw cannotHonour(provider, `the strategy ${strategy}`, 'Leave it out: the engine copies as it can.');
  if (root.type !== 'image')
    throw cannotHonour(
      provider,
      root.type === 'machine' ? "the machine's own programs" : `the directory ${root.path}`,
      'Name an image: container.base-image.',
    );
  for (const name of ['diskBytes', 'diskBytesPerSecond'] as const) {
    if (limits[name] !== undefined && !traits.limits.includes(name))
      throw cannotHonour(provider, LIMIT_KEYS[name], 'Leave it out, or use a provider that can enforce it.');
  }
  if (/^\/(usr|bin|sbin|lib|lib64|etc|run|tmp|dev|proc|sys)(\/|$)/.test(workdir) || meetsOwnPlaces(workdir))
    throw cannotHonour(provider, `the workdir ${workdir} in an image`, 'Set workspace.workdir to /src.');
  if (UNMOUNTABLE.test(layout.root))
    throw cannotHonour(
      provider,
      `a state directory with commas, colons, quotes or spaces in its name (${layout.root})`,
      'Set LITTERBOX_HOME to another directory.',
    );
  if (limits.diskBytesPerSecond !== undefined)
    await assertDiskSpeed({ provider, host, root: layout.root, isConfined }, facts, options);
  if (limits.diskBytes === undefined) return;
  // As for namespaces: one disk for all a sandbox writes, mounted by who is root where the engine's containers are made.
  assertOwnPlayground(provider, spec);
  if (facts.isRootless)
    throw cannotHonour(
      provider,
      'limits.disk with a rootless engine',
      'Use the rootful engine, or leave the limit out.',
    );
  const { code } = await runScript(host, `${CAN_MAKE_DISKS} && command -v mountpoint flock`, options);
  if (code !== 0) throw noDisks(provider);
}

/** @throws LitterboxError `UNSUPPORTED` where the kernel keeps marks of the overlay that this user cannot read. */
export async function assertCopyable(
  { host, provider }: ContainerDirectories,
  isConfined: boolean,
  { isRootless }: EngineFacts,
): Promise<void> {
  if (isConfined)
    throw cannotHonour(
      provider,
      "a copy of layers on the engine's own machine, where nobody may mount",
      "Use an engine that sees this machine's files.",
    );
  const { uid } = await host.facts();
  if (uid !== 0 && !isRootless)
    throw cannotHonour(
      provider,
      'a copy of layers that a rootful engine wrote: this user cannot read all of them',
      'Run Litterbox as root, or use rootless Podman.',
    );
}

/** Gets the image and unpacks the base tree, where they are not there yet, and decides what the sandbox is. */
export async function describeSandbox(
  input: DescribeInput,
  spec: SandboxSpec,
  facts: EngineFacts,
  options?: ProgressOptions,
): Promise<SandboxMeta> {
  const { host, layout } = input.directories;
  const { uid, gid } = await host.facts();
  // Root gives sandboxes a user that nobody is; everybody else has none to give but their own.
  const user = uid === 0 ? SANDBOX_USER : { uid, gid };
  const { reference, installed } = imageOf(spec);
  const trees = { host, bases: layout.bases, ...(uid === 0 && { owner: user }), isConfined: input.isConfined };
  const [image, over] = await Promise.all([
    input.images.get(reference, facts, options),
    ensureBase(trees, spec.workspace, options),
  ]);
  const imageId = installed === undefined ? image.id : await input.installed.get(image, installed, options);
  return {
    ...describeDirectory(spec),
    base: spec.workspace.key,
    ...(over && { over }),
    image: reference,
    ...(installed !== undefined && { installed }),
    imageId,
    engineRoot: facts.rootDirectory,
    imageEnvironment: image.environment,
    hostileNames: image.hostileNames,
    imageVolumes: image.volumes,
    user,
    ...(spec.isInstaller && { isInstaller: true }),
    ...(await findLayer(input, imageId, spec, trees, options)),
  };
}

/** Sees that the base is there: as a whole, or as its difference from another one. */
async function ensureBase(
  trees: BaseTreesInput,
  workspace: WorkspaceSource,
  options?: ProgressOptions,
): Promise<BaseOver | undefined> {
  const isThere = await trees.host.files.stat(`${trees.bases}/${workspace.key}`, options);
  const over = isThere ? undefined : await ensureBaseOver(trees, workspace, options);
  if (!isThere && !over) await ensureBaseTree(trees, workspace, options);
  return over;
}

/** Describes a copy, which is made of the same as its source. @throws LitterboxError `UNSUPPORTED` for anything else */
export function describeCopied(provider: string, spec: SandboxSpec, source: SandboxMeta): SandboxMeta {
  const { reference, installed } = imageOf(spec);
  const isOther = installed !== undefined && installed !== source.installed;
  if (reference !== source.image || isOther) throw notInCopies(provider, 'another image');
  return describeCopy(provider, spec, source);
}

/** What lies over the base: what comes along, or a kept setup. */
async function findLayer(
  input: DescribeInput,
  imageId: string,
  spec: SandboxSpec,
  trees: BaseTreesInput,
  options?: ProgressOptions,
): Promise<Pick<SandboxMeta, 'prepared' | 'newer' | 'artefacts'>> {
  const { artefacts, workspace } = spec;
  if (!artefacts) return await findSetup(input, imageId, spec, trees, options);
  const { provider } = input.directories;
  return { artefacts: await ensureArtefactLayer({ ...trees, provider }, workspace, artefacts, options) };
}

/** The kept setup that it stands on, with what has to be newer. */
async function findSetup(
  { directories: { layout }, setups }: DescribeInput,
  imageId: string,
  { prepared: keys = [], workspace }: SandboxSpec,
  trees: BaseTreesInput,
  options?: CallOptions,
): Promise<Pick<SandboxMeta, 'prepared' | 'newer'>> {
  const prepared = await setups.first(keys, (key) => setupDirectory(layout, imageId, key), options);
  if (prepared === undefined) return {};
  const more = await ensureNewerFiles(trees, workspace, setupDirectory(layout, imageId, prepared), options);
  return more ? { prepared, ...more } : {};
}

/** The image that a spec asks for; an empty name where it asks for none, which is refused before. */
function imageOf({ root }: SandboxSpec): { readonly reference: string; readonly installed?: string } {
  return root.type === 'image' ? root : { reference: '' };
}
