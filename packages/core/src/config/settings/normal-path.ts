import { meetsOwnPlaces } from '../../domain/sandbox/meets-own-places.ts';

/** Longest path that Linux takes (PATH_MAX, without the NUL). */
const MAX_BYTES = 4095;
/** The kernel's own file systems. */
const FORBIDDEN = /^\/(?:$|(?:proc|sys|dev)(?:\/|$))/;

const PROGRAMS = /^\/(?:(?:usr\/(?:local\/)?)?(?:s?bin|lib[^/]*)|etc|nix)(?:\/|$)/;
const HOLDS_PROGRAMS: ReadonlySet<string> = new Set(['/usr', '/usr/local']);

/** The path without `.`, `..`, empty segments and a slash at the end; nothing when it is not absolute or holds NUL. */
export function normalPath(path: string): string | undefined {
  if (!path.startsWith('/') || path.includes('\0') || new TextEncoder().encode(path).length > MAX_BYTES)
    return undefined;
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

/**
 * Whether the workspace can be there. Where programs of the sandbox's root are, a file of the repository would be the shell that our own
 * scripts run in.
 */
export function isWorkdir(path: string): boolean {
  return !FORBIDDEN.test(path) && !PROGRAMS.test(path) && !HOLDS_PROGRAMS.has(path) && !meetsOwnPlaces(path);
}
