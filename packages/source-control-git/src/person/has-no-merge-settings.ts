import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UserRepository } from './user-repository.ts';

/** Sections that decide how trees merge, and those that bring other files; and where attributes are. */
const SETTINGS = /^[ \t]*\[\s*(?:merge|diff|include)|attributesfile/im;

/**
 * Whether no file of the person's configuration says how to merge, by a look at the files. False where that is not sure.
 *
 * @param environment the person's
 */
export function hasNoMergeSettings(
  user: Pick<UserRepository, 'gitDirectory' | 'commonDirectory'>,
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  const { HOME: home, XDG_CONFIG_HOME: config } = environment;
  const isElsewhere = ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM'].some((name) => environment[name] !== undefined);
  if (!home?.startsWith('/') || isElsewhere) return false;
  return [
    '/etc/gitconfig',
    '/usr/local/etc/gitconfig',
    join(config?.startsWith('/') ? config : join(home, '.config'), 'git', 'config'),
    join(home, '.gitconfig'),
    join(user.commonDirectory, 'config'),
    join(user.gitDirectory, 'config.worktree'),
  ].every((path) => !SETTINGS.test(textOf(path)));
}

/** Text that says too much for a file that cannot be read. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? '' : '[include]';
  }
}
