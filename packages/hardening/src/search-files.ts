import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Canary } from './canary.ts';
import { findCanaries } from './find-canaries.ts';

/** Larger files hold bulk data of tests. */
const MAX_BYTES = 16 * 2 ** 20;

/** Every file below a directory, names and link targets left aside. What vanishes meanwhile is passed over. */
export function searchFiles(
  canaries: readonly Canary[],
  directory: string,
  isLeftOut: (path: string) => boolean = () => false,
): readonly string[] {
  const found: string[] = [];
  const visit = (path: string) => {
    if (isLeftOut(path)) return;
    try {
      const { size, ...stat } = lstatSync(path);
      const isFile = (stat.mode & 0o170000) === 0o100000;
      const isDirectory = (stat.mode & 0o170000) === 0o040000;
      if (isDirectory) for (const name of readdirSync(path)) visit(join(path, name));
      else if (isFile && size <= MAX_BYTES) found.push(...findCanaries(canaries, path, readFileSync(path)));
    } catch (error) {
      if (!['ENOENT', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  };
  visit(directory);
  return found;
}
