import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

export interface FoundProgram {
  readonly path: string;
  /** Behind links. */
  readonly real: string;
}

/** The program in `PATH`; not in directories that are there only while npm or npx runs something. */
export function findProgram(name: string, searchPath: string | undefined): FoundProgram | undefined {
  for (const directory of (searchPath ?? '').split(delimiter)) {
    if (!isAbsolute(directory) || directory.includes('/node_modules/.bin')) continue;
    const path = join(directory, name);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return { path, real: realpathSync(path) };
    } catch {
      // not there
    }
  }
  return undefined;
}
