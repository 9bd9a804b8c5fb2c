import { copyFile, stat, utimes } from 'node:fs/promises';

/**
 * Copies the first index that is there, with the time of the original in whole seconds: git looks into files that changed at that moment or later,
 * and a copy's own time is later.
 *
 * @returns the path that was copied; `undefined` when none is there
 */
export async function copyIndex(from: readonly string[], to: string): Promise<string | undefined> {
  for (const path of from) {
    try {
      const { mtimeMs } = await stat(path);
      await copyFile(path, to);
      const seconds = Math.floor(mtimeMs / 1000);
      await utimes(to, seconds, seconds);
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}
