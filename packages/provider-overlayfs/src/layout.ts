import { type DiskImage, type PlaceFiles, placeFilesOf } from '@litterbox/linux-sandbox';
import { type SandboxId } from '@litterbox/core/provider';
import type { SandboxMeta } from './sandbox-meta.ts';

/** Where the provider keeps what on its host. Everything is below `root`, mode 0700. */
export interface Layout {
  readonly root: string;
  /** Frozen trees, one per base: `bases/<key>`. */
  readonly bases: string;
  readonly sandboxes: string;
  readonly playgrounds: string;
  /** Disks of those that have one of their own, with their playgrounds on it. */
  readonly disks: string;
  /** What setups left, frozen: {@link setupDirectory}. */
  readonly setups: string;
}

export function layoutOf(root: string): Layout {
  return {
    root,
    bases: `${root}/bases`,
    sandboxes: `${root}/sandboxes`,
    playgrounds: `${root}/playgrounds`,
    disks: `${root}/disks`,
    setups: `${root}/setups`,
  };
}

export function sandboxLayoutOf(layout: Layout, id: SandboxId): PlaceFiles {
  return placeFilesOf(`${layout.sandboxes}/${id}`);
}

/** Names, in the sandbox's directory, of what holds its workspace and its home directory. */
export const layersOf = (strategy: SandboxMeta['strategy']) =>
  [strategy === 'overlay' ? 'upper' : 'ws', 'home'] as const;

/** The disk of a sandbox; undefined where nothing bounds it. */
export function diskOf(layout: Layout, { id, limits }: Pick<SandboxMeta, 'id' | 'limits'>): DiskImage | undefined {
  return limits.diskBytes === undefined ? undefined : { image: diskImage(layout, id), sizeBytes: limits.diskBytes };
}

/** The file that holds the disk of a sandbox. */
export const diskImage = (layout: Layout, id: SandboxId) => `${layout.disks}/${id}`;

/**
 * Where what a setup left is kept. A layer that holds changes alone lies over any base; a copy of a whole workspace holds its base
 * too, and serves for that one alone.
 */
export function setupDirectory(layout: Layout, { strategy, base, programs }: SetupPlace, key: string): string {
  return `${layout.setups}/${strategy}/${key}-${programs}${strategy === 'overlay' ? '' : `-${base}`}`;
}

/** What a kept setup depends on, besides its key. */
export interface SetupPlace {
  readonly strategy: 'overlay' | 'reflink' | 'copy';
  readonly base: string;
  /** Another one when the programs that a sandbox sees are others; hexadecimal. */
  readonly programs: string;
}
