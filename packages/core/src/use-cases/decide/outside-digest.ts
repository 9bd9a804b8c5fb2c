import { sha256 } from '../../domain/text/sha256.ts';
import type { LargeFileState, SubmoduleState } from '../../ports/source-control/persons-repository.ts';

/** The files of a workspace that no object of the repository has. */
export interface OutsideFiles {
  readonly submodules: readonly SubmoduleState[];
  readonly largeFiles: readonly LargeFileState[];
}

/** Which of those files are here, in sixteen hexadecimal digits; empty when there are none. */
export async function outsideDigest({ submodules, largeFiles }: OutsideFiles): Promise<string> {
  const modules = submodules.filter(({ missing }) => missing === undefined).map(({ path, commit }) => [path, commit]);
  const files = largeFiles.filter(({ isHere }) => isHere).map(({ path, sha256: content }) => [path, content]);
  if (modules.length === 0 && files.length === 0) return '';
  const all = files.length === 0 ? modules : [modules, files];
  return (await sha256(new TextEncoder().encode(JSON.stringify(all)))).slice(0, 16);
}
