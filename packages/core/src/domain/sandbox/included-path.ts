import { foldedPath } from '../text/folded-path.ts';
import { encodeRaw } from '../text/raw-text.ts';

/** More of them than anybody has build directories. */
export const MAX_INCLUDED = 64;
const MAX_PATH_BYTES = 1024;
/** What Windows and HFS+ take for `.git` besides its own name; ours holds the trees of agents. */
const NEVER: ReadonlySet<string> = new Set(['.git', 'git~1', '.litterbox']);

/** What a path to be brought along has to be, for messages. */
export const INCLUDED_PATH = 'a path below the top of the working tree, without "..", and not in .git or .litterbox';

/**
 * A path of the working tree that a person names to be brought along, in its one form: relative to the top, without `.`, empty parts and a
 * slash at the end. Undefined for what is none: empty, absolute, with `..` or NUL, too long, or within `.git` or `.litterbox` as file
 * systems that fold names take them. Where links lead is for whoever copies.
 */
export function includedPath(text: string): string | undefined {
  if (text.startsWith('/') || text.includes('\0') || encodeRaw(text).length > MAX_PATH_BYTES) return undefined;
  const parts = text.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.length === 0 || parts.includes('..')) return undefined;
  if (parts.some((part) => NEVER.has(foldedPath(part)))) return undefined;
  return parts.join('/');
}

/** The paths sorted, each once, without those that lie below another of them. */
export function topmostPaths(paths: readonly string[]): readonly string[] {
  const all = new Set(paths);
  return [...all].filter((path) => !isWithinAny(path.slice(0, path.lastIndexOf('/') + 1).slice(0, -1), all)).sort();
}

/** Whether the path is one of them, or lies below one. The empty path is the top, and is neither. */
export function isWithinAny(path: string, paths: ReadonlySet<string>): boolean {
  for (let cut = path.length; cut > 0; cut = path.lastIndexOf('/', cut - 1))
    if (paths.has(path.slice(0, cut))) return true;
  return false;
}
