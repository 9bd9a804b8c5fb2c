import {
  type CallOptions,
  type Host,
  LIMIT_KEYS,
  type LiveLower,
  LitterboxError,
  type ProviderKey,
  type ProviderTraits,
  type SandboxRoot,
  type SandboxSpec,
} from '@litterbox/core/provider';
import {
  assertOwnPlayground,
  DEFAULT_LIMITS,
  describeCopy,
  describeDirectory,
  noDisks,
  notInCopies,
  runScript,
} from '@litterbox/linux-sandbox';
import { cannotHonour } from '@litterbox/sandbox-kit';
import { assertDiskSpeed } from './machine/assert-disk-speed.ts';
import { askedStrategy, LIVE_STRATEGY_NAMES } from './strategies/choose-strategy.ts';
import type { KeptSetups } from './kept-setups.ts';
import { probeLive } from './layers/live-lower.ts';
import type { MachineSurvey } from './machine-survey.ts';
import { visibleSearchPath } from './machine/visible-search-path.ts';
import type { SandboxMeta } from './session/sandbox-meta.ts';

/** Parts of the provider by which a description is decided, besides what is asked for. */
export interface DescribeInput {
  readonly provider: ProviderKey;
  readonly traits: ProviderTraits;
  readonly host: Host;
  readonly survey: MachineSurvey;
  readonly setups: KeptSetups;
  /** The provider's own directory, for messages. */
  readonly root: string;
}

/** @throws LitterboxError `UNSUPPORTED` for what this machine or this provider cannot honour */
export async function describeSandbox(
  { provider, traits, host, survey, setups, root: directory }: DescribeInput,
  spec: SandboxSpec,
  options?: CallOptions,
): Promise<SandboxMeta> {
  const { root, limits } = spec;
  if (root.type === 'image')
    throw cannotHonour(
      provider,
      `the image ${root.reference}`,
      'Set overlayfs.rootfs to a directory, leave the image out, or use a container provider.',
    );
  for (const name of ['diskBytes', 'diskBytesPerSecond'] as const) {
    if (limits[name] !== undefined && !traits.limits.includes(name))
      throw cannotHonour(provider, LIMIT_KEYS[name], 'Leave it out, or run Litterbox as root.');
  }
  const machine = await survey.machine(options);
  const { canMakeDisks, maxOpenFiles } = machine;
  if (limits.diskBytes !== undefined) assertOwnPlayground(provider, spec);
  if (root.type === 'directory' && /^\/(usr|bin|sbin|lib|lib64|etc)(\/|$)/.test(spec.workdir))
    throw cannotHonour(
      provider,
      `the workdir ${spec.workdir} in a root file system of your own`,
      'Set workspace.workdir to /src.',
    );
  if (limits.openFiles !== undefined && limits.openFiles > maxOpenFiles)
    throw cannotHonour(
      provider,
      `${limits.openFiles} open files: this program itself may have ${maxOpenFiles}`,
      'Ask for fewer, or raise the hard limit of who starts Litterbox (ulimit -Hn).',
    );
  const asked = askedStrategy(spec);
  const { strategy, checks } = await survey.strategy(options, asked);
  if (limits.diskBytesPerSecond !== undefined)
    await assertDiskSpeed(provider, { host, root: directory, machine }, options);
  if (spec.live) await assertLive(provider, spec.live, { host, survey, root: directory }, options);
  if (!strategy)
    throw new LitterboxError(
      'UNSUPPORTED',
      `${asked === undefined ? 'No way of copying works' : `Copying by ${asked} does not work`} below ${directory}.`,
      {
        operation: 'provider.create',
        provider,
        hint: [
          checks.map(({ name, finding }) => `${name}: ${finding}`).join('; '),
          ...new Set(checks.flatMap(({ remedy }) => remedy ?? [])),
        ].join('. '),
      },
    );
  if (spec.live && !strategy.canStandOnLive)
    throw cannotHonour(
      provider,
      `a workspace that stands on the working tree, with the strategy ${strategy.name}`,
      `Stand on a frozen tree: lower = "frozen". Or choose: ${LIVE_STRATEGY_NAMES.join(', ')}.`,
    );
  if (limits.diskBytes !== undefined && strategy.bound === 'image' && !canMakeDisks) throw noDisks(provider);
  const openFiles = Math.min(DEFAULT_LIMITS.openFiles, maxOpenFiles);
  const from = { strategy: strategy.name, base: spec.workspace.key, root };
  return {
    ...describeDirectory({ ...spec, limits: { openFiles, ...limits } }),
    ...from,
    ...(root.type === 'machine' && { searchPath: visibleSearchPath(machine) }),
    ...(spec.live && { live: spec.live }),
    ...(await setups.find(from, spec.prepared ?? [], options)),
  };
}

/** @throws LitterboxError `UNSUPPORTED` where nothing can stand on the directory */
async function assertLive(
  provider: ProviderKey,
  live: LiveLower,
  { host, survey, root }: Pick<DescribeInput, 'host' | 'survey' | 'root'>,
  options?: CallOptions,
): Promise<void> {
  const { isRoot } = await survey.machine(options);
  const { code, stdout } = await runScript(host, probeLive(live, isRoot, root), options);
  if (code !== 0)
    throw cannotHonour(
      provider,
      `a workspace that stands on ${live.directory}: ${stdout.trim() || `exit code ${code}`}`,
      'Stand on a frozen tree: lower = "frozen".',
    );
}

/** Describes a copy, which is made of the same as its source. @throws LitterboxError `UNSUPPORTED` for anything else */
export function describeCopied(
  provider: ProviderKey,
  spec: SandboxSpec,
  { firstMark: _firstMark, ...source }: SandboxMeta,
): SandboxMeta {
  const { root, strategy } = spec;
  if (strategy !== undefined && strategy !== source.strategy)
    throw notInCopies(provider, `another strategy than ${source.strategy}`);
  const pathOf = (one: SandboxRoot) => (one.type === 'directory' ? one.path : '');
  if (root.type !== source.root.type || pathOf(root) !== pathOf(source.root))
    throw notInCopies(provider, 'another root file system');
  return describeCopy(provider, spec, source);
}
