import type { TreeKind } from '@litterbox/linux-sandbox';
import type { SessionMount } from '../mount-table.ts';

/** One way to give a sandbox its own writable copy of a frozen base tree. Texts are for a shell of the host. */
export interface Strategy {
  readonly name: 'overlay' | 'btrfs' | 'reflink' | 'copy';
  /** What a person does where it does not work. */
  readonly remedy: string;
  /** What kind of directory the frozen base trees are; absent: an ordinary one. */
  readonly baseKind?: TreeKind;
  /** Names, in the sandbox's directory, of what holds its workspace and its home directory. */
  readonly layers: readonly [workspace: string, home: string];
  /** Exits 0 when it works below the directory, with what a person may want to know; else prints one line that says why not. Leaves nothing behind. */
  probe(directory: string, isRoot: boolean): string;
  /**
   * Once, at create, with the sandbox's directory as the current one and an empty `home` in it. Not asked for where a copied workspace has a
   * disk of its own: a copy there shares nothing with the base, whatever the strategy.
   *
   * @param setup directory of a kept setup to begin with, as `keep` left it
   * @param artefacts directory of a layer that comes over the base
   */
  prepare(base: string, setup?: string, artefacts?: string): string;
  /** Shell text, a command with a status: as `copyTree`, for the workspace of a sandbox that stands still; `to` is there and empty. */
  copyWorkspace(from: string, to: string): string;
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
  /** `keep` of core's `keepSetupScript`, for new directories of `owner`; empty: of who runs it. */
  keep(owner: string): string;
  /** Its `takeBack`. */
  readonly takeBack: string;
  /** Where the change scanner looks: the layer that holds changes alone, or the whole workspace. */
  readonly changes: 'upper' | 'workspace';
}
