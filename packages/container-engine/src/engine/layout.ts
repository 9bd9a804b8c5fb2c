import {
  COPYING,
  type DirectoryLayout,
  directoryLayout,
  type SandboxFiles,
  sandboxFilesOf,
} from '@litterbox/linux-sandbox';
import { INSIDE as EVERYWHERE, type SandboxId } from '@litterbox/core/provider';
import type { SandboxMeta } from './sandbox-meta.ts';

/** Where a provider keeps what on its host. */
export interface Layout extends DirectoryLayout {
  /** The filter of system calls. */
  readonly seccomp: string;
  /** What the engine told of itself, for later programs. */
  readonly engine: string;
  /** What is known of images into which something was installed: `images/<digest>`. */
  readonly images: string;
}

/** One sandbox's directory. The engine mounts parts of it into the container; nothing inside leads out of them. */
export interface SandboxLayout extends SandboxFiles {
  /** There while it is copied, or after that was interrupted: its container may be paused for it. */
  readonly copyingMark: string;
  /** There until everything of the sandbox has been made once. */
  readonly unfinishedMark: string;
  /** Where the disk of a sandbox is mounted whose `limits.diskBytes` is set; else it is not there. */
  readonly disk: string;
  /** `passwd`, `group` and `hosts`: programs want to know who they run as, and what localhost is. Images and engines do not tell. */
  readonly names: string;
  /** Numbers of the processors that its programs run on, for those who choose the next ones. */
  readonly processors: string;
}

/** What a sandbox writes, on its own disk where it has one. */
export interface Layers {
  /** The layer of the workspace that holds changes alone. */
  readonly upper: string;
  readonly work: string;
  readonly home: string;
  /** The overlay's own, of a home directory that stands on a kept one. */
  readonly homeWork: string;
  readonly playground: string;
}

export function layoutOf(root: string): Layout {
  return {
    ...directoryLayout(root),
    seccomp: `${root}/seccomp.json`,
    engine: `${root}/engine.json`,
    images: `${root}/images`,
  };
}

export const PROCESSORS = 'processors';

export function sandboxLayoutOf(layout: Layout, id: SandboxId): SandboxLayout {
  const directory = `${layout.sandboxes}/${id}`;
  return {
    ...sandboxFilesOf(directory),
    copyingMark: `${directory}/${COPYING}`,
    unfinishedMark: `${directory}/unfinished`,
    disk: `${directory}/disk`,
    names: `${directory}/names`,
    processors: `${directory}/${PROCESSORS}`,
  };
}

export function layersOf(layout: Layout, { id, limits, playground }: SandboxMeta): Layers {
  const { directory, disk } = sandboxLayoutOf(layout, id);
  const isBounded = limits.diskBytes !== undefined;
  const parent = isBounded ? disk : directory;
  return {
    upper: `${parent}/upper`,
    work: `${parent}/work`,
    home: `${parent}/home`,
    homeWork: `${parent}/home-work`,
    playground: isBounded ? `${parent}/playground` : `${layout.playgrounds}/${playground}`,
  };
}

/** Names, in the directory of base trees, of what a sandbox's base is made of, the uppermost first. */
export function baseNames({ base, over }: Pick<SandboxMeta, 'base' | 'over'>): readonly string[] {
  return over ? [over.difference, over.base] : [base];
}

/** Where what a setup left in an image's container is kept: `upper` of the workspace and `home`. */
export function setupDirectory(layout: Layout, imageId: string, key: string): string {
  return `${layout.setups}/${key}-${imageId.replace(/^sha256:/, '').slice(0, 32)}`;
}

/** Where things are inside. */
export const INSIDE = {
  home: EVERYWHERE.home,
  playground: EVERYWHERE.playground,
  /** The changed layer, read-only. */
  changes: '/run/litterbox/changes',
  /** The layer below it that a setup left, read-only. */
  prepared: '/run/litterbox/prepared',
} as const;
