import { isWorkdir } from '../../config/settings/normal-path.ts';
import type { Policy } from '../../domain/sandbox/policy.ts';
import type { SandboxProvider } from '../../ports/sandbox/sandbox-provider.ts';
import type { PersonsRepository } from '../../ports/source-control/persons-repository.ts';
import type { DecidedPolicy } from './decide-policy.ts';

/**
 * Where the workspace of a new sandbox is inside: an absolute path. A repository in a place that a sandbox has of its own, as that of a
 * person whose home is `/home/agent`, is at `/src`, and so is one that is nobody's.
 */
export function decidedWorkdir(
  { workdir }: Pick<DecidedPolicy, 'workdir'>,
  provider: SandboxProvider,
  policy: Policy,
  repository: PersonsRepository,
): string {
  const isOwn = provider.traits.workdir === '/src' || policy.root.type === 'directory';
  return workdir ?? (isOwn || !repository.isPersons || !isWorkdir(repository.root) ? '/src' : repository.root);
}
