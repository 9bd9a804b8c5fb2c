import { isLitterboxError } from 'litterbox';
import type { Hands } from '../hands.ts';

/** Each is a call into the sandbox. */
const MAX_DIRECTORIES = 500;

export interface WalkOptions {
  readonly maxDepth: number;
  readonly maxDirectories: number;
  readonly maxEntries: number;
  readonly followDirectorySymlinks: boolean;
  readonly pruneHiddenDirectories: boolean;
}

export interface Walked {
  readonly entries: readonly { readonly path: string; readonly kind: 'file' | 'directory' }[];
  readonly isTruncated: boolean;
}

/**
 * The files and directories below a directory, as the exec server of codex-cli 0.169.0 tells them: the nearer ones first, by name; of links
 * the directories that they lead to. Those are looked into directly below the top, where skills are linked, and not further down: a link may
 * lead back up.
 */
export async function walk(
  files: Pick<Hands['files'], 'list' | 'stat'>,
  top: string,
  options: WalkOptions,
): Promise<Walked> {
  const entries: { path: string; kind: 'file' | 'directory' }[] = [];
  const most = Math.min(options.maxDirectories, MAX_DIRECTORIES);
  const directories = [{ path: top, depth: 0 }];
  if ((await files.stat(top)).type !== 'directory') return { entries, isTruncated: false };
  let looked = 0;
  for (const { path, depth } of directories) {
    if (looked === most) return { entries, isTruncated: true };
    looked += 1;
    const names = [...(await files.list(path))].sort((one, other) => (one.path < other.path ? -1 : 1));
    for (const { path: name, type } of names) {
      const below = `${path}/${name}`;
      if (type === 'link' && !(options.followDirectorySymlinks && (await leadsToDirectory(files, below)))) continue;
      if (entries.length === options.maxEntries) return { entries, isTruncated: true };
      entries.push({ path: below, kind: type === 'file' ? 'file' : 'directory' });
      const isHidden = options.pruneHiddenDirectories && name.startsWith('.');
      const isFollowed = type === 'directory' || (type === 'link' && depth === 0);
      if (isFollowed && !isHidden && depth < options.maxDepth) directories.push({ path: below, depth: depth + 1 });
    }
  }
  return { entries, isTruncated: false };
}

async function leadsToDirectory(files: Pick<Hands['files'], 'stat'>, path: string): Promise<boolean> {
  try {
    return (await files.stat(path)).type === 'directory';
  } catch (error) {
    if (isLitterboxError(error, 'NOT_FOUND')) return false;
    throw error;
  }
}
