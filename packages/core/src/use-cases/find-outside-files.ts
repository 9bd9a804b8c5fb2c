import type { ObjectId } from '../domain/ids.ts';
import type { CallOptions } from '../ports/call.ts';
import type { SourceRepository } from '../ports/source-control.ts';
import type { OutsideFiles } from './outside-digest.ts';

/** Files of submodules and of Git LFS in a tree. */
export async function findOutsideFiles(
  repository: SourceRepository,
  tree: ObjectId,
  options?: CallOptions,
): Promise<OutsideFiles> {
  const [submodules, largeFiles] = await Promise.all([
    repository.submodules(tree, options),
    repository.largeFiles(tree, options),
  ]);
  return { submodules, largeFiles };
}
