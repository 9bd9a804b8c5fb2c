import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Everything of a repository that its owner could notice: each file of the work tree and of `.git`, with mode and content.
 * Left out are objects, which nobody sees until a ref names them, and the one ref that Litterbox makes before a person asks
 * for anything, which pins the base.
 */
export function repositoryDigest(repository: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const visit = (path: string) => {
    for (const name of readdirSync(join(repository, path)).toSorted()) {
      const at = path === '' ? name : `${path}/${name}`;
      if (at === '.git/objects' || at === '.git/refs/litterbox') continue;
      const { mode } = lstatSync(join(repository, at));
      const type = mode & 0o170000;
      if (type === 0o040000) visit(at);
      else if (type === 0o120000) found[at] = `link ${readlinkSync(join(repository, at))}`;
      else if (type !== 0o100000) found[at] = `special ${mode.toString(8)}`;
      else found[at] = `${mode.toString(8)} ${hashOf(join(repository, at))}`;
    }
  };
  visit('');
  return found;
}

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
