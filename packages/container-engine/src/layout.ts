import { INSIDE as EVERYWHERE, type SandboxId } from '@litterbox/core/provider';

/** Where a provider keeps what on its host. Everything is below `root`, mode 0700. */
export interface Layout {
  readonly root: string;
  /** Frozen trees, one per base: `bases/<key>`. */
  readonly bases: string;
  readonly sandboxes: string;
  readonly playgrounds: string;
  /** What setups left, frozen: {@link setupDirectory}. */
  readonly setups: string;
  /** Names what of the engine belongs to this directory and to no other. */
  readonly seccomp: string;
}

/** One sandbox's directory. The engine mounts parts of it into the container; nothing inside leads out of them. */
export interface SandboxLayout {
  readonly directory: string;
  /** What `create` decided, as JSON. */
  readonly meta: string;
  /** Directory numbers seen by the change scanner, as JSON. */
  readonly scanState: string;
  readonly pausedMark: string;
  readonly stoppedMark: string;
  /** The layer of the workspace that holds changes alone. */
  readonly upper: string;
  readonly work: string;
  readonly home: string;
  /** `passwd`, `group` and `hosts`: programs want to know who they run as, and what localhost is. Images and engines do not tell. */
  readonly names: string;
  /** The overlay's own, of a home directory that stands on a kept one. */
  readonly homeWork: string;
}

export function layoutOf(root: string): Layout {
  return {
    root,
    bases: `${root}/bases`,
    sandboxes: `${root}/sandboxes`,
    playgrounds: `${root}/playgrounds`,
    setups: `${root}/setups`,
    seccomp: `${root}/seccomp.json`,
  };
}

export function sandboxLayoutOf(layout: Layout, id: SandboxId): SandboxLayout {
  const directory = `${layout.sandboxes}/${id}`;
  return {
    directory,
    meta: `${directory}/meta.json`,
    scanState: `${directory}/scan-state.json`,
    pausedMark: `${directory}/paused`,
    stoppedMark: `${directory}/stopped`,
    upper: `${directory}/upper`,
    work: `${directory}/work`,
    home: `${directory}/home`,
    names: `${directory}/names`,
    homeWork: `${directory}/home-work`,
  };
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
