import type { Layer, TreeKind } from '@litterbox/linux-sandbox';
import type { SessionMount } from '../plan/mount-table.ts';

/** One way to give a sandbox its own writable copy of a frozen base tree. Texts are for a shell of the host. */
export interface Strategy {
  readonly name: 'overlay' | 'btrfs' | 'zfs' | 'reflink' | 'copy';
  /** What a person does where it does not work. */
  readonly remedy: string;
  /** What kind of directory the frozen base trees are; absent: an ordinary one. */
  readonly baseKind?: TreeKind;
  /** `copyBase` of `ensureBaseCopy`: present where a base tree that is a copy of another one shares what it holds. */
  copyBase?(from: string, to: string): string;
  /** What of the sandbox's directory holds its workspace and its home directory. */
  readonly layers: readonly Layer[];
  /** Names, in the sandbox's directory, of empty directories that the sandbox's user gets at create. */
  readonly owned: readonly string[];
  /**
   * How what a sandbox writes is bounded: the layers lie on a disk of their own, an image in a file; or the layers have a bound themselves. A
   * workspace that is a copy is then copied whole onto the image, which shares nothing with the base.
   */
  readonly bound: 'image' | OwnBound;
  /** Present where the base may be a directory that somebody else writes to. */
  readonly canStandOnLive?: true;
  /** Exits 0 when it works below the directory, with what a person may want to know; else prints one line that says why not. Leaves nothing behind. */
  probe(directory: string, isRoot: boolean): string;
  /** What a probe looks for besides, when a person asks how the machine is. */
  readonly survey?: {
    /** Shell text: prints a line of what a person should know, or nothing. @param root absolute path of the provider's own directory */
    script(root: string): string;
    /** What a person does about it. */
    readonly remedy: string;
  };
  /**
   * Once, at create, with the sandbox's directory as the current one and an empty `home` in it. Not asked for where a workspace that is a copy
   * lies on an image: a copy there shares nothing with the base, whatever the strategy.
   */
  prepare(input: PrepareInput): string;
  /** Names of directories, where {@link prepare} makes these and does nothing else. */
  entries?(input: PrepareInput): readonly string[];
  /**
   * Shell text at each session start, before any mount and while nothing of the sandbox runs, with its directory as the current one: puts its
   * layers in order, and sets what `mounts` refer to. Calls `fail` with a text when it cannot.
   */
  readonly begin?: string;
  /**
   * What is mounted at each session start, in the session's own mount namespace, with the sandbox's directory at /run. Ends with the workspace
   * at /run/ws and the home directory at /run/home. What is mounted on is there: `base`, `difference`, `newer`, `setup`, `ws` and `home`.
   *
   * @param layers directory of the session's mount namespace that holds the layers, all on one mount
   * @param setup directory of the kept setup that the sandbox stands on
   * @param newer directory with what lies over the base: what of it is newer than that setup, or what came along
   * @param difference directory of a layer that makes `base` into the base that is wanted
   */
  mounts(
    base: string,
    isRoot: boolean,
    layers: string,
    setup?: string,
    newer?: string,
    difference?: string,
  ): readonly SessionMount[];
  /** Shell text after these mounts, in the same place: mounts that no table can tell of beforehand. Calls `fail` with a text when it cannot. */
  readonly attach?: string;
  /** Sessions are started by shell text in any case: its texts share variables, which programs do not. */
  readonly isForShell?: true;
  /** `keep` of core's `keepSetupScript`, for new directories of `owner`; empty: of who runs it. */
  keep(owner: string): string;
  /** Its `takeBack`. */
  readonly takeBack: string;
  /** Where the change scanner looks: the layer that holds changes alone, or the whole workspace. */
  readonly changes: 'upper' | 'workspace';
}

/** What a sandbox begins with. All paths are absolute. */
export interface PrepareInput {
  /** The frozen base tree. */
  readonly base: string;
  /** Directory of a kept setup to begin with, as `keep` left it. */
  readonly setup?: string;
  /** Directory of a layer that comes over the base; never beside `setup`. */
  readonly artefacts?: string;
  /** How much the sandbox may write, where the layers bound it themselves. */
  readonly diskBytes?: number;
}

/** A bound that layers have by themselves, of workspace, home and playground together. */
export interface OwnBound {
  /** Shell text, in the session with its mounts: prints how much the sandbox may write at most, as `stat -f -c '%b %S'` would. */
  readonly size: string;
  /** Shell text, after `attach`: the playground is on the layers too. */
  readonly attachPlayground: string;
  /**
   * Shell text, a command with a status, in a mount namespace of its own: copies a playground that outlived a sandbox onto the layers of the one
   * whose absolute directory that is.
   */
  putIn(from: string, directory: string): string;
  /** Its opposite, where nothing runs: `to` is there and empty. */
  takeOut(directory: string, to: string): string;
}
