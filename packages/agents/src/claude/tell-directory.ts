import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { isLitterboxError } from 'litterbox';
import type { ExecPlace } from '../exec-place.ts';
import { hostPath } from '../paths.ts';

const MAX_PATH_BYTES = 4096;
const NO_FILE = ['NOT_FOUND', 'NOT_A_REGULAR_FILE', 'IS_A_DIRECTORY', 'NOT_A_DIRECTORY'] as const;

/**
 * The directory in which a command ended, as the sandbox has it, for the program on the person's machine. The sandbox's file is the agent's:
 * it counts if it is one path of the workspace.
 */
export async function directoryAfter(place: ExecPlace, file: string): Promise<string | undefined> {
  const { hands } = place;
  try {
    const { sizeBytes } = await hands.status(file);
    if (sizeBytes > MAX_PATH_BYTES) return undefined;
    const bytes = await hands.read(file);
    return isUtf8(bytes) ? hostPath(place, Buffer.from(bytes).toString('utf8').replace(/\n$/, '')) : undefined;
  } catch (error) {
    if (NO_FILE.some((code) => isLitterboxError(error, code))) return undefined;
    throw error;
  }
}

/** Makes the file that Claude reads and takes away. One that is there already is somebody else's, and stays as it is. */
export async function tellDirectory(file: string, directory: string): Promise<void> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  try {
    await using handle = await open(file, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
    await handle.writeFile(`${directory}\n`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
