import { type HostFacts, meetsOwnPlaces } from '@litterbox/core/provider';

/** A directory of the host with programs that a sandbox may read, at the same path inside. */
export interface ToolDirectory {
  readonly path: string;
  readonly reason: string;
}

/** Covered by the system directories every sandbox sees. */
const SYSTEM = /^\/(usr|bin|sbin|lib|lib32|lib64|libx32)(\/|$)/;

/** Never shown, whatever PATH says: they hold what agents must not see, or are made anew inside. */
const NEVER = /^\/(proc|sys|dev|run|tmp|etc|root|home|var)?$/;

/**
 * What of PATH lies outside the system directories, with the whole tree of a version manager where only its `bin` is in
 * PATH (its programs are links into the tree). Nothing of the person's repository: direnv and npm put its directories into PATH,
 * and it would be the live work tree with its untracked files. A version manager in a home that is itself the repository stays.
 *
 * @param realPaths each directory of PATH with its real path
 * @param managers trees of version managers that exist in the home directory
 */
export function toolDirectoriesOf(
  facts: HostFacts,
  realPaths: ReadonlyMap<string, string>,
  managers: readonly string[],
): readonly ToolDirectory[] {
  const found = new Map<string, string>();
  const isWithin = (path: string, parent: string) => path === parent || path.startsWith(`${parent}/`);
  const top = facts.repositoryTop;
  for (const directory of facts.searchPath) {
    const real = realPaths.get(directory);
    // npm puts a project's own .bin first for its scripts: links into a tree that is not there inside.
    if (real === undefined || SYSTEM.test(real) || real.endsWith('/node_modules/.bin')) continue;
    const tree =
      managers.find((manager) => isWithin(real, manager) || isWithin(directory, manager)) ??
      /^\/opt\/[^/]+/.exec(real)?.[0] ??
      real;
    if (NEVER.test(tree) || meetsOwnPlaces(tree) || tree === facts.homeDirectory || isWithin(facts.homeDirectory, tree))
      continue;
    if (top !== undefined && (isWithin(top, tree) || (isWithin(tree, top) && !managers.includes(tree)))) continue;
    found.set(tree, `programs in PATH (${directory})`);
  }
  // Cargo's programs are links into rustup's tree.
  for (const manager of managers) {
    if (manager.endsWith('/.rustup') && found.has(manager.replace(/\.rustup$/, '.cargo')))
      found.set(manager, 'the Rust tool chains that programs in PATH lead to');
  }
  const paths = [...found.keys()];
  return paths
    .filter((path) => !paths.some((other) => other !== path && isWithin(path, other)))
    .map((path) => ({ path, reason: found.get(path) ?? '' }));
}

/** Files and directories below a tool directory that may hold credentials: empty inside, wherever they exist. */
export const CREDENTIAL_NAMES: readonly string[] = [
  'credentials',
  'credentials.toml',
  '.credentials',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.netrc',
  '.git-credentials',
  '.pypirc',
  'auth.json',
  'token',
  'tokens',
  '.env',
  'config.toml',
  'settings.xml',
  'hosts.yml',
  '.git',
  'secrets',
  '.aws',
  '.ssh',
  '.gnupg',
];
