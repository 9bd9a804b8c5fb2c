/** Files in the directory of every sandbox, besides its trees. Mode 0711: the sandbox's user passes through it, where it is shown at all. */
export interface SandboxFiles {
  readonly directory: string;
  /** The description, as JSON. */
  readonly meta: string;
  /** Directory numbers seen by the change scanner, as JSON. */
  readonly scanState: string;
  readonly pausedMark: string;
  readonly stoppedMark: string;
}

/** The files of the sandbox in that directory, an absolute path on the host. */
export function sandboxFilesOf(directory: string): SandboxFiles {
  return {
    directory,
    meta: `${directory}/meta.json`,
    scanState: `${directory}/scan-state.json`,
    pausedMark: `${directory}/paused`,
    stoppedMark: `${directory}/stopped`,
  };
}
