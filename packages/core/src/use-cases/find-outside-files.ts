import type { ObjectId } from '../domain/ids.ts';
import type { CallOptions } from '../ports/call.ts';
import type { PersonsRepository } from '../ports/persons-repository.ts';
import type { OutsideFiles } from './outside-digest.ts';

/** Files of submodules and of Git LFS in a tree. */
export async function findOutsideFiles(
  repository: PersonsRepository,
  tree: ObjectId,
  options?: CallOptions,
): Promise<OutsideFiles> {
  const [submodules, largeFiles] = await Promise.all([
    repository.submodules(tree, options),
    repository.largeFiles(tree, options),
  ]);
  return { submodules, largeFiles };
}
