import { baseTreeName, type DirectoryLayout } from '@litterbox/linux-sandbox';
import type { Strategy } from '../strategies/strategy.ts';

/** Where the frozen tree of a base is that sandboxes with the strategy stand on. */
export function baseDirectory({ bases }: DirectoryLayout, { baseKind }: Strategy, base: string): string {
  return `${bases}/${baseTreeName(base, baseKind)}`;
}

/** Where the layer is of what came along into a sandbox. */
export function artefactDirectory(
  { bases }: DirectoryLayout,
  { artefacts }: { readonly artefacts?: string },
): string | undefined {
  return artefacts === undefined ? undefined : `${bases}/${artefacts}`;
}

/**
 * Where what a setup left is kept. A layer that holds changes alone lies over any base; a copy of a whole workspace holds its base
 * too, and serves for that one alone.
 */
export function setupDirectory(
  { setups }: DirectoryLayout,
  { strategy, base, programs }: SetupPlace,
  key: string,
): string {
  return `${setups}/${strategy.name}/${key}-${programs}${strategy.changes === 'upper' ? '' : `-${base}`}`;
}

/** What a kept setup depends on, besides its key. */
export interface SetupPlace {
  readonly strategy: Pick<Strategy, 'name' | 'changes'>;
  readonly base: string;
  /** Another one when the programs that a sandbox sees are others; hexadecimal. */
  readonly programs: string;
}
