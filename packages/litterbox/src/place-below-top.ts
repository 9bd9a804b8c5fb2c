import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Where a directory lies in the repository that holds it; nothing at its top, and outside of any. */
export function placeBelowTop(directory: string): string | undefined {
  if (!existsSync(directory)) return undefined;
  const real = realpathSync(directory);
  for (let at = real; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return relative(at, real) || undefined;
    if (at === dirname(at)) return undefined;
  }
}
