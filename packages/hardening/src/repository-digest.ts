import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Everything of a repository that its owner could notice: each file of the work tree and of `.git`, with mode and content.
 * Left out are objects, which nobody sees until a ref names them, and the one ref that Litterbox makes before a person asks
 * for anything, which pins the base.
 */
export function repositoryDigest(repository: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  // Names are bytes: here each byte is a character.
  const onDisk = (path: string) => Buffer.concat([Buffer.from(`${repository}/`), Buffer.from(path, 'latin1')]);
  const visit = (path: string) => {
    for (const bytes of readdirSync(onDisk(path), { encoding: 'buffer' })) {
      const name = bytes.toString('latin1');
      const at = path === '' ? name : `${path}/${name}`;
      if (at === '.git/objects' || at === '.git/refs/litterbox') continue;
      const { mode } = lstatSync(onDisk(at));
      const type = mode & 0o170000;
      if (type === 0o040000) visit(at);
      else if (type === 0o120000) found[at] = `link ${readlinkSync(onDisk(at), 'latin1')}`;
      else if (type !== 0o100000) found[at] = `special ${mode.toString(8)}`;
      else found[at] = `${mode.toString(8)} ${hashOf(onDisk(at))}`;
    }
  };
  visit('');
  return found;
}

const hashOf = (path: Buffer) => createHash('sha256').update(readFileSync(path)).digest('hex');
