import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Top of the work tree that a directory is in, found as git finds it: by a `.git`, which may be a file. */
export function repositoryRoot(directory: string): string | undefined {
  for (let top = resolve(directory); ; top = dirname(top)) {
    if (existsSync(join(top, '.git'))) return top;
    if (top === dirname(top)) return undefined;
  }
}
