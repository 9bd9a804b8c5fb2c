/** The programs a sandbox sees besides its workspace. */
export type SandboxRoot =
  /** The machine's own programs, read-only: `/usr` and the tool directories of PATH. */
  | { readonly type: 'machine' }
  /** A directory on the provider's host that holds a root file system. Used read-only. */
  | { readonly type: 'directory'; readonly path: string }
  /**
   * A container image reference; `installed` names what was installed into it, a key of the image store of its provider. One that is
   * not there is `NOT_FOUND`.
   */
  | { readonly type: 'image'; readonly reference: string; readonly installed?: string };
