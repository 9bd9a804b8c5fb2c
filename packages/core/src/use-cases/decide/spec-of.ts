import { ObjectId } from '../../domain/sandbox/ids.ts';
import type { CallOptions } from '../../ports/common/call.ts';
import type { SandboxSpec, WorkspaceSource } from '../../ports/sandbox/sandbox-provider.ts';
import type { Base, PersonsRepository } from '../../ports/source-control/persons-repository.ts';
import type { SandboxRecord } from '../../ports/state/state-store.ts';
import { findOutsideFiles } from './find-outside-files.ts';
import { outsideDigest } from './outside-digest.ts';

/** The order to a provider for a new sandbox. */
export async function specOf(
  record: Pick<SandboxRecord, 'id' | 'slug' | 'repositoryId' | 'workdir' | 'policy'>,
  base: Pick<Base, 'commit' | 'tree'>,
  repository: PersonsRepository,
  options?: CallOptions,
): Promise<SandboxSpec> {
  const { policy } = record;
  return {
    id: record.id,
    slug: record.slug,
    repositoryId: record.repositoryId,
    workspace: await workspaceOf(base, repository, options),
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

/** Ends the key of a tree with files that nobody committed, which has an odd number of digits then. */
const UNCOMMITTED = '0';

/** The files of a tree, with those of submodules and Git LFS as far as they are here: with others the same tree is another content. */
async function workspaceOf(
  { commit, tree }: Pick<Base, 'commit' | 'tree'>,
  repository: PersonsRepository,
  options?: CallOptions,
): Promise<WorkspaceSource> {
  const outside = await findOutsideFiles(repository, { commit, tree }, options);
  const own = await outsideDigest(outside);
  const mark = (await repository.isUncommitted(commit, options)) ? UNCOMMITTED : '';
  // A committed base never stands on a tree that goes with its last sandbox.
  const isSame = (key: string) => [own, `${own}${mark}`].includes(key.slice(tree.length));
  const { submodules, largeFiles } = outside;
  const treeOf = (key: string) => key.slice(0, tree.length) as ObjectId;
  return {
    key: `${tree}${own}${mark}`,
    open: (call) => repository.tree(tree, { ...call, ...outside }),
    ...(repository.nearestTree &&
      repository.treeOver && {
        async nearest(keys, call) {
          // With the same files of submodules and Git LFS, or none: which of those differ is not known.
          const trees = new Map(
            keys.filter((key) => ObjectId.is(treeOf(key)) && isSame(key)).map((key) => [treeOf(key), key]),
          );
          const nearest = await repository.nearestTree?.(tree, [...trees.keys()], call);
          return nearest && trees.get(nearest);
        },
        openOver: (key, call) => repository.treeOver?.(tree, treeOf(key), call) ?? repository.tree(tree, call),
      }),
    openUnlike(key, timeSeconds, call) {
      const isOther = !isSame(key); // which of their files differ is not known
      const unlike = treeOf(key);
      const paths = new Set(largeFiles.map(({ path }) => path));
      const others = isOther ? { submodules, paths } : {};
      return repository.tree(tree, { ...call, unlike, timeSeconds, largeFiles, ...others });
    },
  };
}
