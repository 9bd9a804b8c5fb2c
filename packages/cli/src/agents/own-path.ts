import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** `bin/litterbox.cjs` of the package that this is. */
export function ownPath(): string {
  const started = realpathSync(process.argv[1] ?? '');
  for (let directory = dirname(started); directory !== dirname(directory); directory = dirname(directory)) {
    const path = join(directory, 'bin', 'litterbox.cjs');
    if (existsSync(path)) return path;
  }
  return started;
}
