/** One way to give a sandbox its own writable copy of a frozen base tree. All members are shell text for the host. */
export interface Strategy {
  readonly name: 'overlay' | 'reflink' | 'copy';
  /** Exits 0 when it works below the directory, else prints one line that says why not. Leaves nothing behind. */
  probe(directory: string, isRoot: boolean): string;
  /**
   * Once, at create, with the sandbox's directory as the current one and an empty `home` in it.
   *
   * @param setup directory of a kept setup to begin with, as `keep` left it
   */
  prepare(base: string, setup?: string): string;
  /**
   * At each session start, in the session's own mount namespace, with the sandbox's directory at /run. Ends with the workspace at /run/ws and
   * the home directory at /run/home.
   *
   * @param setup directory of the kept setup that the sandbox stands on
   */
  mount(base: string, isRoot: boolean, setup?: string): string;
  /**
   * Puts what a setup left into the empty directory `$kept`, with the sandbox's directory as the current one and no process of the sandbox
   * alive. What it leaves in the sandbox's directory goes on with the same files, on the kept setup or apart from it. `owner` is for
   * `chown`, empty when nothing is to be given away.
   */
  keep(owner: string): string;
  /** Undoes {@link Strategy.keep} when somebody else kept the same setup meanwhile. */
  takeBack: string;
  /** Where the change scanner looks: the layer that holds changes alone, or the whole workspace. */
  readonly changes: 'upper' | 'workspace';
}
