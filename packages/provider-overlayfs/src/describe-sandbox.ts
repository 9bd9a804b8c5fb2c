import {
  type CallOptions,
  LitterboxError,
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
} from '@litterbox/linux-sandbox';
import { cannotHonour } from '@litterbox/sandbox-kit';
import type { KeptSetups } from './kept-setups.ts';
import type { MachineSurvey } from './machine-survey.ts';
import type { SandboxMeta } from './sandbox-meta.ts';

/** Parts of the provider by which a description is decided, besides what is asked for. */
export interface DescribeInput {
  readonly traits: ProviderTraits;
  readonly survey: MachineSurvey;
  readonly setups: KeptSetups;
  /** The provider's own directory, for messages. */
  readonly root: string;
}

const PROVIDER = 'overlayfs';

/** @throws LitterboxError `UNSUPPORTED` for what this machine or this provider cannot honour */
export async function describeSandbox(
  { traits, survey, setups, root: directory }: DescribeInput,
  spec: SandboxSpec,
  call?: CallOptions,
): Promise<SandboxMeta> {
  const { root, limits } = spec;
  if (root.type === 'image')
    throw cannotHonour(
      PROVIDER,
      `the image ${root.reference}`,
      'Set overlayfs.rootfs to a directory, leave the image out, or use a container provider.',
    );
  for (const name of ['diskBytes', 'diskBytesPerSecond'] as const) {
    if (limits[name] !== undefined && !traits.limits.includes(name))
      throw cannotHonour(
        PROVIDER,
        `the limit ${name}`,
        name === 'diskBytes' ? 'Leave it out, or run Litterbox as root with the strategy overlay.' : 'Leave it out.',
      );
  }
  const { canMakeDisks, maxOpenFiles } = await survey.machine(call);
  if (limits.diskBytes !== undefined) {
    assertOwnPlayground(PROVIDER, spec);
    if (!canMakeDisks) throw noDisks(PROVIDER);
  }
  if (root.type === 'directory' && /^\/(usr|bin|sbin|lib|lib64|etc)(\/|$)/.test(spec.workdir))
    throw cannotHonour(
      PROVIDER,
      `the workdir ${spec.workdir} in a root file system of your own`,
      'Set workspace.workdir to /src.',
    );
  if (limits.openFiles !== undefined && limits.openFiles > maxOpenFiles)
    throw cannotHonour(
      PROVIDER,
      `${limits.openFiles} open files: this program itself may have ${maxOpenFiles}`,
      'Ask for fewer, or raise the hard limit of who starts Litterbox (ulimit -Hn).',
    );
  const { strategy, checks } = await survey.strategy(call, spec.strategy);
  if (limits.diskBytes !== undefined && strategy?.changes === 'workspace')
    throw cannotHonour(
      PROVIDER,
      `the limit diskBytes with the strategy ${strategy.name}`,
      'Use the strategy overlay, or leave the limit out.',
    );
  if (!strategy)
    throw new LitterboxError('UNSUPPORTED', `No way of copying works below ${directory}.`, {
      operation: 'provider.create',
      provider: PROVIDER,
      hint: checks.map(({ name, finding }) => `${name}: ${finding}`).join('; '),
    });
  const openFiles = Math.min(DEFAULT_LIMITS.openFiles, maxOpenFiles);
  const from = { strategy: strategy.name, base: spec.workspace.key, root };
  return {
    ...describeDirectory({ ...spec, limits: { openFiles, ...limits } }),
    ...from,
    ...(await setups.find(from, spec.prepared ?? [], call)),
  };
}

/** Describes a copy, which is made of the same as its source. @throws LitterboxError `UNSUPPORTED` for anything else */
export function describeCopied(spec: SandboxSpec, { firstMark: _firstMark, ...source }: SandboxMeta): SandboxMeta {
  const { root, strategy } = spec;
  if (strategy !== undefined && strategy !== source.strategy)
    throw notInCopies(PROVIDER, `another strategy than ${source.strategy}`);
  const pathOf = (one: SandboxRoot) => (one.type === 'directory' ? one.path : '');
  if (root.type !== source.root.type || pathOf(root) !== pathOf(source.root))
    throw notInCopies(PROVIDER, 'another root file system');
  return describeCopy(PROVIDER, spec, source);
}
