import { LitterboxError } from '../errors/errors.ts';
import { shown } from '../text/shown.ts';
import { workspacePath } from './workspace-path.ts';

/**
 * A path relative to the top of the repository, from one that a caller gave: `.` and `..` are resolved by the text. `.` is the top.
 *
 * @throws LitterboxError `PATH_OUTSIDE_WORKDIR`, and as {@link workspacePath}
 */
export function repositoryPath(path: string): string {
  workspacePath('', path);
  const components: string[] = [];
  let isInside = !path.startsWith('/');
  for (const component of path.split('/')) {
    if (component === '' || component === '.') continue;
    if (component !== '..') components.push(component);
    else if (components.pop() === undefined) isInside = false;
  }
  if (isInside) return components.join('/') || '.';
  throw new LitterboxError('PATH_OUTSIDE_WORKDIR', `The path ${shown(path)} lies outside of the repository.`, {
    operation: 'sandbox.path',
    hint: 'Name a file or directory of the repository, relative to its top.',
  });
}
