import { existsSync, lstatSync, readFileSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { objectFormat } from '../objects/object-format.ts';
import type { UserRepository } from './user-repository.ts';

/** A line of a configuration as git writes it: a section, a key with a value or without one, or nothing. */
const PLAIN_LINE = /^(?:\[[A-Za-z0-9.-]+(?: "[^"\\]*")?\]|[A-Za-z][A-Za-z0-9-]*(?:\s*=[^"\\]*)?|[#;].*)?$/;
/** With these the repository is elsewhere, or of another form. */
const OTHER_FORM =
  /^(?:\[(?:include|extensions)|worktree\b|bare\b(?!\s*=\s*false$)|repositoryformatversion\b(?!\s*=\s*0$))/i;
/** A branch, there or not, or a commit. */
const HEAD = /^(?:ref: refs\/[^\n]+|[0-9a-f]{40})\n$/;
/** A directory that somebody unpacked may have files of any length. */
const MAX_BYTES = 64 * 1024;

/** The answer of {@link findPlainRepository}. */
export type PlainRepository = Pick<UserRepository, 'root' | 'gitDirectory' | 'commonDirectory' | 'format'>;

/**
 * The repository that a directory is in, found as git finds it, without git. Nothing where it is not the usual one: a `.git` directory in
 * a work tree of this user's, on one file system, with a configuration of format 0 in the form that git writes.
 *
 * @param start real path of a directory
 */
export function findPlainRepository(start: string): PlainRepository | undefined {
  const format = objectFormat('sha1');
  try {
    const device = lstatSync(start).dev;
    for (let root = start; ; root = dirname(root)) {
      const top = lstatSync(root);
      if (top.dev !== device || existsSync(join(root, 'HEAD'))) return undefined; // git stops there; or it may be bare
      const gitDirectory = join(root, '.git');
      const found = lstatSync(gitDirectory, { throwIfNoEntry: false });
      if (found) {
        const isPlain = found.dev === device && [top, found].every(isOwn) && isUsual(gitDirectory, found);
        return isPlain && format ? { root, gitDirectory, commonDirectory: gitDirectory, format } : undefined;
      }
      if (root === dirname(root)) return undefined;
    }
  } catch {
    return undefined; // git is asked, and says why
  }
}

/** git takes the repository of nobody else without a word of the person's. */
const isOwn = ({ uid }: Stats): boolean => uid === process.geteuid?.();

function isUsual(gitDirectory: string, found: Stats): boolean {
  const isDirectory = (name: string) => lstatSync(join(gitDirectory, name)).isDirectory();
  if (!found.isDirectory() || !isDirectory('objects') || !isDirectory('refs')) return false;
  if (existsSync(join(gitDirectory, 'commondir'))) return false;
  const lines = linesOf(join(gitDirectory, 'config'))?.map((line) => line.trim());
  const isPlain = lines?.every((line) => PLAIN_LINE.test(line) && !OTHER_FORM.test(line)) ?? false;
  return isPlain && HEAD.test(linesOf(join(gitDirectory, 'HEAD'))?.join('\n') ?? '');
}

/** The lines of a file that is one and not too long. */
function linesOf(path: string): readonly string[] | undefined {
  const found = lstatSync(path);
  return found.isFile() && found.size <= MAX_BYTES ? readFileSync(path, 'latin1').split('\n') : undefined;
}
