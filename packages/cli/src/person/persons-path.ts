import { realpathSync } from 'node:fs';
import { delimiter, isAbsolute } from 'node:path';
import { repositoryTop } from '@litterbox/host';

/**
 * PATH for programs of the person that they did not name themselves, such as the usual pager: without what npm, npx and direnv put first.
 *
 * @param directory a directory in the repository; nothing below the top of it stays
 * @returns as PATH is written; directories that are not there are left out
 */
export function personsPath(searchPath: string | undefined, directory: string): string {
  const top = `${repositoryTop(directory)}/`;
  const isOfThePerson = (path: string) => {
    try {
      const real = `${realpathSync(path)}/`;
      return isAbsolute(path) && !real.startsWith(top) && !real.includes('/node_modules/.bin/');
    } catch {
      return false; // not there
    }
  };
  return (searchPath ?? '').split(delimiter).filter(isOfThePerson).join(delimiter);
}
