import { type SandboxFiles, sandboxFilesOf } from '../directory/sandbox-files.ts';

/** What the directory of a sandbox holds whose programs run in sessions. */
export interface PlaceFiles extends SandboxFiles {
  /** What the kernel said about the running session, as JSON. */
  readonly session: string;
}

/** The files of the sandbox in that directory, an absolute path on the host. */
export function placeFilesOf(directory: string): PlaceFiles {
  return { ...sandboxFilesOf(directory), session: `${directory}/session.json` };
}
