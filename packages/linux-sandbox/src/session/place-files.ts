/** What the directory of one sandbox holds, besides its trees. Mode 0711: the sandbox's user passes through it, where it is shown at all. */
export interface PlaceFiles {
  readonly directory: string;
  /** What `create` decided, as JSON. */
  readonly meta: string;
  /** What the kernel said about the running session, as JSON. */
  readonly session: string;
  /** Directory numbers seen by the change scanner, as JSON. */
  readonly scanState: string;
  readonly pausedMark: string;
  readonly stoppedMark: string;
}

/** The files of the sandbox in that directory, an absolute path on the host. */
export function placeFilesOf(directory: string): PlaceFiles {
  return {
    directory,
    meta: `${directory}/meta.json`,
    session: `${directory}/session.json`,
    scanState: `${directory}/scan-state.json`,
    pausedMark: `${directory}/paused`,
    stoppedMark: `${directory}/stopped`,
  };
}
