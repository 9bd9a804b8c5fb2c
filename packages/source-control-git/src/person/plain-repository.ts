import { existsSync, lstatSync, readFileSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { objectFormat } from '../objects/object-format.ts';
import type { UserRepository } from './user-repository.ts';

/** A line of a configuration as git writes it: a section, a key with a value or without one, or nothing. */
const PLAIN_LINE = /^(?:\[[A-Za-z0-9.-]+(?: "[^"\\]*")?\]|[A-Za-z][A-Za-z0-9-]*(?:\s*=[^"\\]*)?|[#;].*)?$/;
/** With these the repository is elsewhere, or of another form. */
const OTHER_FORM =
  /^(?:\[(?:include|extensions)|worktree\b|bare\b(?!\s*=\s*false$)|repositoryformatversion\b(?!\s*=\s*0$))/i;
/** Whoever unpacked somebody's directory did not write what is in there. */
const MAX_CONFIG_BYTES = 64 * 1024;

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
  if (existsSync(join(gitDirectory, 'commondir')) || !lstatSync(join(gitDirectory, 'HEAD')).isFile()) return false;
  const config = lstatSync(join(gitDirectory, 'config'));
  if (!config.isFile() || config.size > MAX_CONFIG_BYTES) return false;
  const lines = readFileSync(join(gitDirectory, 'config'), 'latin1').split('\n');
  return lines.map((line) => line.trim()).every((line) => PLAIN_LINE.test(line) && !OTHER_FORM.test(line));
}
