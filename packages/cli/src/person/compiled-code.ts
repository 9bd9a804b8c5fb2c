import { lstatSync, mkdirSync, readdirSync, rmSync, type Stats } from 'node:fs';

const WRITABLE_BY_OTHERS = 0o022;
/** Another installation may be in use beside this one. */
const KEPT_MS = 7 * 24 * 3_600_000;

/**
 * The directory in which Node may keep compiled code, made where it is missing: one for each release, and the first start of a release
 * removes those of others that nothing was added to for a week. Undefined where nobody is sure to be the only one who
 * writes there: Node runs what it finds, and its own choice below `/tmp` is whose who makes it first.
 */
export function compiledCodeDirectory(
  { XDG_CACHE_HOME: cache, HOME: home }: Readonly<Record<string, string | undefined>>,
  uid: number | undefined,
  version: string,
): string | undefined {
  const above = cache?.startsWith('/') ? cache : home?.startsWith('/') ? `${home}/.cache` : undefined;
  if (above === undefined) return undefined;
  const releases = `${above}/litterbox/compiled`;
  const directory = `${releases}/${version}`;
  const isOwn = (found: Stats) => found.isDirectory() && found.uid === uid && (found.mode & WRITABLE_BY_OTHERS) === 0;
  try {
    mkdirSync(releases, { recursive: true, mode: 0o700 });
    if (!isOwn(lstatSync(releases))) return undefined;
    const isNew = mkdirSync(directory, { recursive: true, mode: 0o700 }) !== undefined;
    if (!isOwn(lstatSync(directory))) return undefined;
    if (isNew) removeOthers(releases, version);
    return directory;
  } catch {
    return undefined; // a start takes longer
  }
}

/** Removes those of other releases, and what an older one left beside them. */
function removeOthers(releases: string, version: string): void {
  for (const name of readdirSync(releases)) {
    const path = `${releases}/${name}`;
    if (name !== version && Date.now() - lstatSync(path).mtimeMs > KEPT_MS)
      rmSync(path, { recursive: true, force: true });
  }
}
