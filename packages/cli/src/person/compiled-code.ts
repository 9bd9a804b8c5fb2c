import { lstatSync, mkdirSync } from 'node:fs';

const WRITABLE_BY_OTHERS = 0o022;

/**
 * The directory in which Node may keep compiled code, made where it is missing. Undefined where nobody is sure to be the only one who
 * writes there: Node runs what it finds, and its own choice below `/tmp` is whose who makes it first.
 */
export function compiledCodeDirectory(
  { XDG_CACHE_HOME: cache, HOME: home }: Readonly<Record<string, string | undefined>>,
  uid: number | undefined,
): string | undefined {
  const above = cache?.startsWith('/') ? cache : home?.startsWith('/') ? `${home}/.cache` : undefined;
  if (above === undefined) return undefined;
  const directory = `${above}/litterbox/compiled`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const found = lstatSync(directory);
    const isOwn = found.isDirectory() && found.uid === uid && (found.mode & WRITABLE_BY_OTHERS) === 0;
    return isOwn ? directory : undefined;
  } catch {
    return undefined; // a start takes longer
  }
}
