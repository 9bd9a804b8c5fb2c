import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/**
 * The outermost directory around a path that holds a `.git`; the path itself where there is none. What lies below it is the
 * repository's: an agent may have written it, and the person edits it.
 *
 * @returns absolute, with no links in it where the path is there
 */
export function repositoryTop(path: string): string {
  let [top, at] = [resolve(path), resolve(path)];
  if (existsSync(at)) top = at = realpathSync(at);
  for (; at !== dirname(at); at = dirname(at)) if (existsSync(join(at, '.git'))) top = at;
  return top;
}
