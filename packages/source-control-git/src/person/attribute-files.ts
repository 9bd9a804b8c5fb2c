import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { UserRepository } from './user-repository.ts';

/** More of it is known by size and time. */
const MAX_READ_BYTES = 1024n * 1024n;

/**
 * A name for what the person's files of attributes say (gitattributes(5)). Of those in the work tree the one at the top counts: of deeper
 * ones that are not committed nothing is known before they are.
 *
 * @param environment the person's
 * @param configured value of `core.attributesFile`
 */
export function nameAttributes(
  { root, commonDirectory }: Pick<UserRepository, 'root' | 'commonDirectory'>,
  { HOME: home = '/', XDG_CONFIG_HOME: config }: Readonly<Record<string, string | undefined>>,
  configured?: string,
): string {
  const usual = join(config?.startsWith('/') ? config : join(home, '.config'), 'git', 'attributes');
  const inWorkTree = join(root, '.gitattributes');
  const hash = createHash('sha256');
  for (const path of [
    '/etc/gitattributes',
    '/usr/local/etc/gitattributes',
    configured?.replace(/^~(?=\/)/, home) ?? usual,
    join(commonDirectory, 'info', 'attributes'),
    inWorkTree,
  ])
    hash
      .update(`${path}\0`)
      .update(textOf(path, path === inWorkTree))
      .update('\0');
  return hash.digest('hex');
}

/**
 * The content of a file, or its size and time where that is much. What is no file says nothing: a pipe or a device in the work tree would hold
 * up whoever reads it, and a link there is passed over by git too.
 */
function textOf(path: string, isInWorkTree: boolean): Buffer | string {
  try {
    const found = (isInWorkTree ? lstatSync : statSync)(path, { bigint: true });
    if (!found.isFile()) return '';
    return found.size > MAX_READ_BYTES ? `${found.size} ${found.mtimeNs}` : readFileSync(path);
  } catch {
    return ''; // git passes over what it cannot read
  }
}
