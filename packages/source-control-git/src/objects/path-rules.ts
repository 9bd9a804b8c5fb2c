import type { ByteString } from '../git/byte-text.ts';
import { fromByteString } from '../git/byte-text.ts';

/** Linux PATH_MAX, less what the directories need under which git looks at the path. */
const MAX_PATH_BYTES = 3800;
/** Linux NAME_MAX. */
const MAX_NAME_BYTES = 255;

/** Code points that HFS+ drops when it compares names (git: utf8.c, next_hfs_char). */
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Why a path can never be part of a tree, or `undefined`. */
export function pathFault(
  path: ByteString,
): 'PATH_GIT_DIR' | 'PATH_TOO_LONG' | 'PATH_NUL' | 'PATH_EMPTY' | 'PATH_OUTSIDE_WORKDIR' | undefined {
  if (path.length > MAX_PATH_BYTES) return 'PATH_TOO_LONG';
  if (path.includes('\0')) return 'PATH_NUL';
  let fault: ReturnType<typeof pathFault>;
  for (const name of path.split('/')) {
    if (name === '') return path.startsWith('/') ? 'PATH_OUTSIDE_WORKDIR' : 'PATH_EMPTY';
    if (name === '.' || name === '..') return 'PATH_OUTSIDE_WORKDIR';
    if (name.length > MAX_NAME_BYTES) fault ??= 'PATH_TOO_LONG';
    else if (isGitLike(name)) fault = 'PATH_GIT_DIR';
  }
  return fault;
}

/** Whether some file system takes the name for `.git`: by case, by characters HFS+ drops, by an NTFS short name. */
export function isGitLike(name: ByteString): boolean {
  if (!/[gG\\]/.test(name)) return false;
  // A backslash separates on Windows, so each part counts.
  return name.split('\\').some((part) => {
    const folded = fold(part);
    return folded === '.git' || folded === 'git~1';
  });
}

/** Files that git reads while it works: as a symbolic link they would make it read something else. */
const SPECIAL = [
  { name: '.gitattributes', short: 'gitatt', hashed: 'gi7d29' },
  { name: '.gitignore', short: 'gitign', hashed: 'gi250a' },
  { name: '.gitmodules', short: 'gitmod', hashed: 'gi7eba' },
  { name: '.mailmap', short: 'mailma', hashed: 'maba30' },
] as const;

export function isSpecialName(name: ByteString): boolean {
  if (!/[gGmM]/.test(name)) return false;
  const folded = fold(name);
  return SPECIAL.some(
    ({ name, short, hashed }) =>
      folded === name ||
      (/~[1-4]$/.test(folded) && folded.slice(0, -2) === short) ||
      // NTFS: six characters of name and hash share the eight with the tilde and the number.
      (/^[^~]{2,6}~[1-9][0-9]*$/.test(folded) && hashed.startsWith(folded.slice(0, folded.indexOf('~')))),
  );
}

/** As HFS+ and NTFS compare: case, ignored characters, trailing dots and spaces, alternate data streams. */
function fold(name: ByteString): string {
  return fromByteString(name)
    .replace(HFS_IGNORED, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
}
