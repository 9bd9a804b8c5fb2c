import type { CallOptions } from '../../ports/common/call.ts';
import type { Base, PersonsRepository } from '../../ports/source-control/persons-repository.ts';
import type { OutsideFiles } from './outside-digest.ts';

/** Files of submodules and of Git LFS in the tree of a sandbox, which may be another one than that of the commit it begins at. */
export async function findOutsideFiles(
  repository: PersonsRepository,
  base: Pick<Base, 'commit' | 'tree'>,
  options?: CallOptions,
): Promise<OutsideFiles> {
  const [submodules, largeFiles] = await Promise.all([
    repository.submodules(base.tree, options),
    repository.largeFiles(base, options),
  ]);
  return { submodules, largeFiles };
}
