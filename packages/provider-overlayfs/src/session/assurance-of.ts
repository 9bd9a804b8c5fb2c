import { type Assurance } from '@litterbox/core/provider';
import { judgeFacts, type KernelFacts } from '@litterbox/linux-sandbox';
import type { Machine } from '../machine/machine.ts';
import type { SandboxMeta } from './sandbox-meta.ts';
import type { Strategy } from '../strategies/strategy.ts';
import type { ToolDirectory } from '../machine/tool-directories.ts';

/** What is in force, as the kernel tells it. */
export function assuranceOf(
  machine: Machine,
  meta: SandboxMeta,
  { bound }: Pick<Strategy, 'bound'>,
  environment: readonly string[],
  masked: readonly string[],
  facts: KernelFacts,
): Assurance {
  const delegation = machine.checks.find(({ name }) => name === 'control-groups')?.remedy;
  return judgeFacts(
    {
      provider: machine.provider,
      mechanism: `${meta.strategy}${machine.isRoot ? '' : ' (unprivileged)'}, bubblewrap ${machine.bwrapVersion}`,
      id: meta.id,
      workdir: meta.workdir,
      hasOwnUsers: true,
      hasReadOnlyDevices: true,
      limits: meta.limits,
      environment,
      ...(machine.cgroup === undefined && {
        withoutLimits: delegation ?? 'Check the machine, which says what is missing.',
      }),
      ...((bound !== 'image' || machine.canMakeDisks) && {
        withoutDisk: 'Set limits.disk, or keep the state directory on a file system of its own.',
      }),
      readable: readableOf(machine.toolDirectories, meta),
      masked,
      ...(meta.root.type === 'machine' && { unreachable: machine.unreachable }),
    },
    facts,
  );
}

function readableOf(tools: readonly ToolDirectory[], meta: SandboxMeta): Assurance['readable'] {
  const live = meta.live && {
    path: meta.live.directory,
    reason:
      'the working tree that it stands on, as it is now, ignored files included; without .git and what looks like a secret',
  };
  return [...(live ? [live] : []), ...programsOf(tools, meta)];
}

function programsOf(tools: readonly ToolDirectory[], meta: SandboxMeta): Assurance['readable'] {
  if (meta.root.type === 'directory') return [{ path: meta.root.path, reason: 'the root file system of your choice' }];
  return [
    { path: '/usr', reason: 'the programs of this machine' },
    {
      path: '/etc',
      reason: 'a copy of what programs need of it: certificates, alternatives, time zone; no account of yours',
    },
    ...tools,
  ];
}
