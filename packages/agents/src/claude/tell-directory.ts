import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { isLitterboxError } from 'litterbox';
import type { ExecPlace } from '../codex/exec-session.ts';
import { hostPath } from './paths.ts';

const MAX_PATH_BYTES = 4096;

/**
 * The directory in which a command ended, as the sandbox has it, for the program on the person's machine. The sandbox's file is the agent's:
 * it counts if it is one path of the workspace.
 */
export async function directoryAfter(place: ExecPlace, file: string): Promise<string | undefined> {
  const { hands } = place;
  try {
    const { sizeBytes } = await hands.status(file);
    if (sizeBytes > MAX_PATH_BYTES) return undefined;
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await hands.read(file));
    return hostPath(place, text.replace(/\n$/, ''));
  } catch (error) {
    if (error instanceof TypeError || isLitterboxError(error, 'NOT_FOUND')) return undefined;
    if (isLitterboxError(error, 'NOT_A_REGULAR_FILE') || isLitterboxError(error, 'IS_A_DIRECTORY')) return undefined;
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
