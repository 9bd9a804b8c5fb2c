import { type HostFacts, meetsOwnPlaces, quoted, SECRET_PATTERNS } from '@litterbox/core/provider';
import { type PlanEntry } from '@litterbox/linux-sandbox';

/** A directory of the host with programs that a sandbox may read, at the same path inside. */
export interface ToolDirectory {
  readonly path: string;
  readonly reason: string;
}

/** Covered by the system directories every sandbox sees. */
const SYSTEM = /^\/(usr|bin|sbin|lib|lib32|lib64|libx32)(\/|$)/;

/** Never shown, whatever PATH says: they hold what agents must not see, or are made anew inside. */
const NEVER = /^\/(proc|sys|dev|run|tmp|etc|root|home|var)?$/;

/** No installation is there, whatever a link says. */
const NEVER_BELOW = /^\/(proc|sys|dev|run|etc)\//;

/** A link in a directory of PATH, with the file that it leads to. */
export interface ProgramLink {
  readonly path: string;
  readonly target: string;
}

/** What the host has beside PATH itself, all of it by real paths. */
export interface ToolFacts {
  /** Each directory of PATH with its real path. */
  readonly realPaths: ReadonlyMap<string, string>;
  /** Trees of version managers that exist in the home directory. */
  readonly managers: readonly string[];
  /** Links in directories of PATH that are not the system's, and of the system's those into /opt. */
  readonly links: readonly ProgramLink[];
  /** Directories beside a `bin` that its programs need: `lib`, `libexec`, and what a JDK, Maven and Go have. */
  readonly parts: readonly string[];
  /** Python's virtual environments that a link leads into. */
  readonly environments: readonly string[];
  /** Where package managers of the system keep what programs in PATH need. */
  readonly libraries: readonly string[];
}

export interface ToolDirectories {
  readonly directories: readonly ToolDirectory[];
  /** Links whose targets a sandbox does not see. */
  readonly unreachable: readonly ProgramLink[];
}

/** More are no installation's but somebody's collection: each is a mount. */
const MAX_DERIVED = 64;

const isWithin = (path: string, parent: string) => path === parent || path.startsWith(`${parent}/`);

/**
 * What of PATH lies outside the system directories, and what its programs need: the programs of a version manager, the libraries beside
 * a `bin`, the package that a link leads into. Nothing of the person's repository: direnv and npm put its directories into PATH,
 * and it would be the live work tree with its untracked files. A version manager in a home that is itself the repository stays.
 */
export function toolDirectoriesOf(facts: HostFacts, tools: ToolFacts): ToolDirectories {
  const { realPaths, managers, links, libraries } = tools;
  const found = new Map<string, string>();
  const { repositoryTop: top, homeDirectory: home } = facts;
  const mayShow = (tree: string) =>
    !NEVER.test(tree) &&
    !meetsOwnPlaces(tree) &&
    !isWithin(home, tree) &&
    (top === undefined ||
      (!isWithin(top, tree) && (!isWithin(tree, top) || managers.some((manager) => isWithin(tree, manager)))));
  const isCredential = (tree: string) => tree.split('/').some((name) => CREDENTIAL_NAMES.includes(name));
  let derived = 0;
  const derive = (tree: string, reason: string) => {
    if (found.has(tree) || SYSTEM.test(tree) || NEVER_BELOW.test(tree) || !mayShow(tree) || isCredential(tree)) return;
    if (derived >= MAX_DERIVED) return;
    found.set(tree, reason);
    derived += 1;
  };
  const shownDirectories = new Set<string>();
  for (const directory of facts.searchPath) {
    const real = realPaths.get(directory);
    // npm puts a project's own .bin first for its scripts: links into a tree that is not there inside.
    if (real === undefined || SYSTEM.test(real) || real.endsWith('/node_modules/.bin')) continue;
    const manager = managers.find((one) => isWithin(real, one) || isWithin(directory, one));
    const trees = manager === undefined ? [optTree(real) ?? real] : partsOfManager(manager, real);
    if (!trees.some((tree) => isWithin(real, tree)) || !trees.every(mayShow)) continue;
    for (const tree of trees) found.set(tree, `programs in PATH (${directory})`);
    shownDirectories.add(real);
    for (const part of partsBeside(real, tools, home)) derive(part, `what programs in PATH need (${directory})`);
  }
  // Cargo's programs are links into rustup's tree.
  for (const manager of managers) {
    if (manager.endsWith('/.rustup') && found.has(manager.replace(/\.rustup$/, '.cargo/bin')))
      found.set(manager, 'the Rust tool chains that programs in PATH lead to');
  }
  for (const library of libraries)
    derive(
      library,
      library.endsWith('/dpkg')
        ? 'what dpkg has installed, which builds ask for'
        : 'the code of programs in /usr/local/bin',
    );
  const used = links.filter(
    ({ path }) => SYSTEM.test(path) || isShown(path, [...shownDirectories, ...tools.environments]),
  );
  for (const { path, target } of used) {
    if (!isShown(target, found.keys()))
      for (const tree of treesOf(target, tools, home)) derive(tree, `what a program in PATH leads to (${path})`);
  }
  const paths = [...found.keys()];
  return {
    directories: paths
      .filter((path) => !paths.some((other) => other !== path && isWithin(path, other)))
      .map((path) => ({ path, reason: found.get(path) ?? '' })),
    unreachable: used.filter(({ target }) => !SYSTEM.test(target) && !isShown(target, found.keys())),
  };
}

/**
 * Where nothing but programs is, in trees of version managers whose other files are logins, settings and packages of the person. Of others
 * the whole tree is needed: their programs look for versions in it.
 */
const PARTS_OF_MANAGERS: Readonly<Record<string, readonly string[]>> = {
  '.bun': ['bin', 'install/global'],
  '.cargo': ['bin'],
  '.deno': ['bin'],
  '.sdkman': ['bin', 'candidates', 'libexec'],
  mise: ['shims', 'installs'],
};

function partsOfManager(manager: string, real: string): readonly string[] {
  const name = manager.slice(manager.lastIndexOf('/') + 1);
  if (name === '.nvm') return [real]; // an installation of Node for itself, with what is beside it
  return PARTS_OF_MANAGERS[name]?.map((part) => `${manager}/${part}`) ?? [manager];
}

function isShown(path: string, trees: Iterable<string>): boolean {
  for (const tree of trees) if (isWithin(path, tree)) return true;
  return false;
}

const optTree = (path: string) => /^\/opt\/[^/]+(?=\/)/.exec(path)?.[0];

/** What the file that a link leads to needs; nothing where that cannot be told, so that no directory of other files is shown. */
function treesOf(target: string, tools: ToolFacts, home: string): readonly string[] {
  const environment = tools.environments.find((tree) => isWithin(target, tree));
  if (environment !== undefined) return [environment];
  const whole = /^.*?\/node_modules(?=\/)/.exec(target)?.[0] ?? optTree(target);
  if (whole !== undefined) return [whole];
  const directory = target.slice(0, target.lastIndexOf('/'));
  const parts = partsBeside(directory, tools, home);
  return parts.length === 0 ? [] : [directory, ...parts];
}

/** Below a home, `lib` and the like are an installation's own where they are not the person's for everything. */
function partsBeside(directory: string, { parts }: ToolFacts, home: string): readonly string[] {
  if (!directory.endsWith('/bin')) return [];
  const prefix = directory.slice(0, -'/bin'.length);
  if (prefix === home || prefix === `${home}/.local`) return [];
  return parts.filter((part) => part.slice(0, part.lastIndexOf('/')) === prefix);
}

/**
 * Names of files and directories that hold credentials in directories of tools, where they would be other things elsewhere. They are empty
 * inside where they exist in the first two levels, and not there where they come to the first one later.
 */
export const CREDENTIAL_NAMES: readonly string[] = [
  'credentials',
  'credentials.toml',
  '.credentials',
  '.npmrc',
  'npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.netrc',
  '.git-credentials',
  '.pypirc',
  'pip.conf',
  'auth.json',
  'token',
  'tokens',
  '.env',
  'config.toml',
  'settings.xml',
  'hosts.yml',
  'jmxremote.password',
  '.git',
  'secrets',
  '.aws',
  '.ssh',
  '.gnupg',
];
/** Directories of code and of what it needs: far down in them nobody logs in, and there are many files. */
const CODE = ['node_modules', 'site-packages', 'lib', 'lib64', 'share', 'include', 'src', 'pkg', 'store', 'cache'];

/** Where package managers of the system keep what programs in PATH need: nobody logs in there, and there are many files. */
export const SYSTEM_LIBRARIES = ['/var/lib/gems', '/var/lib/dpkg'] as const;

/** Whether somebody may have logged in there. Homes of build servers are below /var/lib too. */
export const isOfPerson = (directory: string): boolean =>
  !SYSTEM_LIBRARIES.some((library) => isWithin(directory, library));

/** Extended regular expressions, in whatever case, of a type's letter, a space and a path: what is a secret, and what of that is none. */
const SECRET_EXPRESSIONS = {
  secret: `^. (${SECRET_PATTERNS.hidden}|(.*/)?etc/(npmrc|pip\\.conf))$`,
  shown: `^. (${SECRET_PATTERNS.shown})$`,
};

/** As {@link findCredentials}, for the session program (`packages/session-program/src/look.h`). */
export function credentialsPlan(directories: readonly string[]): readonly PlanEntry[] {
  return [
    ['trees', ...directories],
    ['tools', ...directories.filter(isOfPerson)],
    ['names', ...CREDENTIAL_NAMES],
    ['code', ...CODE],
    ['secret', SECRET_EXPRESSIONS.secret],
    ['shown', SECRET_EXPRESSIONS.shown],
    ['credentials'],
  ];
}

/**
 * Shell text: prints what of tool directories has to look empty, a line `d PATH` or `f PATH` with a NUL behind it for each: names of
 * credentials in the first two levels, and what core takes for a secret by its name in the first six. Of a link it is what it leads to.
 */
export function findCredentials(directories: readonly string[]): string {
  if (directories.length === 0) return '';
  const tools = directories.filter(isOfPerson);
  const { secret, shown } = SECRET_EXPRESSIONS;
  const named = CREDENTIAL_NAMES.map((name) => `-iname ${quoted(name)}`).join(' -o ');
  const code = CODE.map((name) => `-name ${quoted(name)}`).join(' -o ');
  const told = `for p; do
case $p in
'l '*) t=$(readlink -f -- "\${p#l }") || continue
if [ -d "$t" ]; then printf 'd %s\\0' "$t"; elif [ -f "$t" ] && [ ! -x "$t" ]; then printf 'f %s\\0' "$t"; fi;;
*) printf '%s\\0' "$p";;
esac
done`;
  const far = `find ${tools.map(quoted).join(' ')} -mindepth 1 -maxdepth 6 -printf '%y %p\\0' -type d \\( ${code} \\) -prune | LC_ALL=C grep -zaiE ${quoted(secret)} | LC_ALL=C grep -zaivE ${quoted(shown)}
`;
  return `{ find ${directories.map(quoted).join(' ')} -mindepth 1 -maxdepth 2 \\( ${named} \\) -printf '%y %p\\0'
${tools.length === 0 ? '' : far}} 2>/dev/null | xargs -0 -r sh -c ${quoted(told)} sh`;
}

/** What is read in place of a file that may hold credentials, where its program takes no empty one. */
export const EMPTY_CONTENTS: Readonly<Record<string, string>> = {
  'settings.xml': '<settings/>',
  'auth.json': '{}',
};
