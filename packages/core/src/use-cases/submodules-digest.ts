import { sha256 } from '../domain/sha256.ts';
import type { SubmoduleState } from '../ports/source-control.ts';

/** Which submodules are here at which commit, in sixteen hexadecimal digits; empty when there are none. */
export async function submodulesDigest(submodules: readonly SubmoduleState[]): Promise<string> {
  const here = submodules.filter(({ missing }) => missing === undefined).map(({ path, commit }) => [path, commit]);
  if (here.length === 0) return '';
  return (await sha256(new TextEncoder().encode(JSON.stringify(here)))).slice(0, 16);
}
