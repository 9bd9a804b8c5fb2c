import { LIMIT_KEYS, type LimitName, type SandboxSpec } from '@litterbox/core/provider';
import { cannotHonour } from '@litterbox/sandbox-kit';
import { describeDirectory } from '../directory/directory-description.ts';
import type { Isolation } from './isolation.ts';
import type { PlaceMeta } from './place-meta.ts';

/** @throws LitterboxError `UNSUPPORTED` for what no place has, or this isolation cannot enforce */
export function describePlace({ name: provider, limits: enforced }: Isolation, spec: SandboxSpec): PlaceMeta {
  const { root, limits, strategy, copyOf, workdir } = spec;
  if (copyOf !== undefined)
    throw cannotHonour(provider, 'a copy of a sandbox', 'Make a new one, or use another provider.');
  if (root.type !== 'machine')
    throw cannotHonour(provider, `a root file system of type ${root.type}`, 'Leave it out, or use another provider.');
  if (strategy !== undefined)
    throw cannotHonour(provider, `the strategy ${strategy}`, 'Leave it out: its sandboxes have plain copies.');
  for (const name of Object.keys(limits) as LimitName[])
    if (limits[name] !== undefined && !(enforced as readonly LimitName[]).includes(name))
      throw cannotHonour(provider, LIMIT_KEYS[name], 'Leave it out, or use a provider that can enforce it.');
  if (/^\/(usr|bin|sbin|lib|lib32|lib64|libx32|etc|run)(\/|$)/.test(workdir))
    throw cannotHonour(provider, `the workdir ${workdir}`, 'Set workspace.workdir to /src.');
  return describeDirectory(spec);
}
