import type { DirectoryLayout } from '@litterbox/linux-sandbox';
import type { SandboxMeta } from './sandbox-meta.ts';

/** Names, in the sandbox's directory, of what holds its workspace and its home directory. */
export const layersOf = (strategy: SandboxMeta['strategy']) =>
  [strategy === 'overlay' ? 'upper' : 'ws', 'home'] as const;

/**
 * Where what a setup left is kept. A layer that holds changes alone lies over any base; a copy of a whole workspace holds its base
 * too, and serves for that one alone.
 */
export function setupDirectory(
  { setups }: DirectoryLayout,
  { strategy, base, programs }: SetupPlace,
  key: string,
): string {
  return `${setups}/${strategy}/${key}-${programs}${strategy === 'overlay' ? '' : `-${base}`}`;
}

/** What a kept setup depends on, besides its key. */
export interface SetupPlace {
  readonly strategy: 'overlay' | 'reflink' | 'copy';
  readonly base: string;
  /** Another one when the programs that a sandbox sees are others; hexadecimal. */
  readonly programs: string;
}
