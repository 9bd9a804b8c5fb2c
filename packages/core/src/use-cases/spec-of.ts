import type { ObjectId } from '../domain/ids.ts';
import type { SandboxSpec } from '../ports/sandbox-provider.ts';
import type { Base, SourceRepository } from '../ports/source-control.ts';
import type { SandboxRecord } from '../ports/state-store.ts';

/** What a provider is asked to make for a sandbox. */
export function specOf(
  record: Pick<SandboxRecord, 'id' | 'slug' | 'repositoryId' | 'workdir' | 'policy'>,
  base: Pick<Base, 'tree'>,
  repository: SourceRepository,
): SandboxSpec {
  const { policy } = record;
  return {
    id: record.id,
    slug: record.slug,
    repositoryId: record.repositoryId,
    workspace: {
      key: base.tree,
      open: (call) => repository.tree(base.tree, call),
      openUnlike: (key, timeSeconds, call) =>
        repository.tree(base.tree, { ...call, unlike: key as ObjectId, timeSeconds }),
    },
    workdir: record.workdir,
    root: policy.root,
    environment: policy.environment,
    limits: policy.limits,
    network: 'none',
    playground: policy.playgroundScope === 'shared' ? record.repositoryId : record.id,
    allowDegraded: policy.allowDegraded,
    ...(policy.strategy !== undefined && { strategy: policy.strategy }),
  };
}
