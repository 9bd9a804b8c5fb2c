/** Where a provider that keeps a directory for each sandbox has what on its host. Everything is below `root`, mode 0700. */
export interface DirectoryLayout {
  readonly root: string;
  /** Frozen trees, one per base: `bases/<key>`. */
  readonly bases: string;
  readonly sandboxes: string;
  readonly playgrounds: string;
  /** Files that hold the disks of sandboxes that have one: `disks/<id>`. */
  readonly disks: string;
  /** Kept setups, frozen. */
  readonly setups: string;
}

/**
 * Where a provider has what that keeps it below one directory.
 *
 * @param root absolute path of the provider's own directory on the host
 */
export function directoryLayout(root: string): DirectoryLayout {
  return {
    root,
    bases: `${root}/bases`,
    sandboxes: `${root}/sandboxes`,
    playgrounds: `${root}/playgrounds`,
    disks: `${root}/disks`,
    setups: `${root}/setups`,
  };
}
