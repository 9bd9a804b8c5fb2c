import { existsSync, realpathSync, statSync } from 'node:fs';
import { LitterboxError, shown } from '@litterbox/core/provider';
import { repositoryTop } from './repository-top.ts';

/** Where root installs programs, on NixOS too. What the system itself brings comes first. */
const OF_THE_SYSTEM = ['/usr/sbin', '/usr/bin', '/sbin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];
const VARIABLE = 'LITTERBOX_PROGRAMS';
const WRITABLE_FOR_ALL = 0o002;

/** What decides where our own programs are. */
export interface ProgramPlaces {
  /** Directories besides those of the system, as in PATH; text of `LITTERBOX_PROGRAMS`. */
  readonly besides: string | undefined;
  /** A path in the repository. No directory below its top is taken. */
  readonly repository: string | undefined;
}

/**
 * The directories in which programs of ours are looked up, in order: those of the system, then those that are named besides.
 * PATH has no part in it: npm, npx and direnv put directories of the repository first.
 *
 * @throws LitterboxError `CONFIG_UNTRUSTED` when a directory that is named besides is not absolute, lies in the repository, belongs
 *   to neither root nor this user, or can be written by everybody. One that is not there is passed over.
 */
export function programDirectories({ besides = '', repository }: ProgramPlaces): readonly string[] {
  const top = repository === undefined ? undefined : repositoryTop(repository);
  const isWithin = (path: string) => top !== undefined && `${path}/`.startsWith(`${top}/`);
  const found = OF_THE_SYSTEM.filter((path) => existsSync(path) && !isWithin(realpathSync(path)));
  for (const path of besides.split(':').filter((each) => each !== '')) {
    if (!path.startsWith('/')) throw refused(path, 'is not absolute');
    if (!existsSync(path)) continue;
    const real = realpathSync(path);
    const { uid, mode } = statSync(real);
    if (isWithin(real)) throw refused(path, 'lies in the repository');
    if (uid !== 0 && uid !== process.getuid?.()) throw refused(path, 'belongs to another user');
    if ((mode & WRITABLE_FOR_ALL) !== 0) throw refused(path, 'can be written by everybody');
    found.push(path);
  }
  return found;
}

function refused(path: string, why: string): LitterboxError {
  return new LitterboxError('CONFIG_UNTRUSTED', `${VARIABLE} names ${shown(path)}, which ${why}.`, {
    operation: 'host.programs',
    hint: `Name directories there that hold programs of yours or of root, such as /opt/homebrew/bin, or unset ${VARIABLE}.`,
  });
}
