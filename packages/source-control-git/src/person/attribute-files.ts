import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserRepository } from './user-repository.ts';

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
  const hash = createHash('sha256');
  for (const path of [
    '/etc/gitattributes',
    '/usr/local/etc/gitattributes',
    configured?.replace(/^~(?=\/)/, home) ?? usual,
    join(commonDirectory, 'info', 'attributes'),
    join(root, '.gitattributes'),
  ])
    hash.update(`${path}\0`).update(bytesOf(path)).update('\0');
  return hash.digest('hex');
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.of(); // git passes over what it cannot read
  }
}
