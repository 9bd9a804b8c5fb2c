import { type FileChange, type RiskyChange, visibleName } from '@litterbox/core/provider';

interface Rule {
  readonly pattern: RegExp;
  readonly reason: string;
}

const AGENT = 'instructs or configures coding agents';
const HOOK = 'defines hooks that git runs';
const CI = 'runs in continuous integration';
const BUILD = 'runs when the project is built';
const PACKAGE = 'decides what runs or is fetched when packages are installed';
const PYTHON = 'runs when Python, its tests or its tools start';
const SHELL = 'is loaded by the shell or a version manager on entering the directory';
const IDE = 'runs when a folder is opened in an editor';
const CONTAINER = 'decides what containers and machines run';
const GIT = 'changes how git treats files';

/** Files that run code on the person's machine, or steer programs that do (security.md 6.1.5). Matched in lower case. */
const RULES: readonly Rule[] = [
  { pattern: /(^|\/)\.git(attributes|modules|config|ignore)$/, reason: GIT },
  { pattern: /(^|\/)\.lfsconfig$/, reason: GIT },
  { pattern: /(^|\/)\.git-blame-ignore-revs$/, reason: GIT },
  { pattern: /(^|\/)(\.githooks|\.husky|hooks)\//, reason: HOOK },
  {
    pattern: /(^|\/)(\.pre-commit-config\.ya?ml|\.?lefthook(-local)?\.(ya?ml|toml|json)|\.overcommit\.yml)$/,
    reason: HOOK,
  },
  {
    pattern:
      /(^|\/)(\.vscode|\.idea|\.fleet|\.zed)\/|\.code-workspace$|(^|\/)\.(n?vimrc|exrc|nvim\.lua|dir-locals\.el)$/,
    reason: IDE,
  },
  { pattern: /(^|\/)\.(cursor|claude|codex|gemini|opencode|windsurf|aider[^/]*|roo|cline[^/]*)(\/|$)/, reason: AGENT },
  {
    pattern: /(^|\/)\.?mcp\.json$|(^|\/)(claude(\.local)?|agents|gemini)\.md$|(^|\/)\.(cursor|windsurf|cline)rules$/,
    reason: AGENT,
  },
  { pattern: /(^|\/)\.github\/copilot-instructions\.md$/, reason: AGENT },
  { pattern: /(^|\/)(\.github|\.circleci|\.gitea|\.forgejo|\.buildkite|\.woodpecker)\//, reason: CI },
  {
    pattern:
      /(^|\/)(\.gitlab-ci\.ya?ml|jenkinsfile|azure-pipelines\.ya?ml|\.travis\.yml|bitbucket-pipelines\.yml|\.drone\.yml)$/,
    reason: CI,
  },
  {
    pattern:
      /(^|\/)(\.envrc|\.env[^/]*|\.tool-versions|\.?mise(\.[^/]+)?\.toml|\.nvmrc|\.node-version|\.python-version|\.ruby-version)$/,
    reason: SHELL,
  },
  {
    pattern: /(^|\/)(package\.json|\.npmrc|\.yarnrc[^/]*|\.pnpmfile\.cjs|\.pnp\.c?js|bunfig\.toml|deno\.jsonc?)$/,
    reason: PACKAGE,
  },
  { pattern: /(^|\/)\.yarn\//, reason: PACKAGE },
  {
    pattern:
      /(^|\/)([^/]*\.lockb?|[^/]*-lock\.(json|ya?ml)|npm-shrinkwrap\.json|go\.(mod|sum|work)|requirements[^/]*\.txt|gemfile[^/]*)$/,
    reason: PACKAGE,
  },
  {
    pattern:
      /(^|\/)(pyproject\.toml|setup\.(py|cfg)|(conftest|sitecustomize|usercustomize|noxfile|fabfile|tasks)\.py|tox\.ini|pytest\.ini|[^/]*\.pth|manage\.py)$/,
    reason: PYTHON,
  },
  {
    pattern:
      /(^|\/)((gnu)?makefile|[^/]*\.mk|\.?justfile|taskfile[^/]*\.ya?ml|build\.rs|gradlew(\.bat)?|[^/]*\.gradle(\.kts)?|gradle\.properties|pom\.xml|mvnw(\.cmd)?|build\.xml|rakefile|dangerfile|cmakelists\.txt|[^/]*\.cmake|meson\.build|build\.zig|magefile\.go|dune-project)$/,
    reason: BUILD,
  },
  { pattern: /(^|\/)(\.cargo|\.mvn|gradle\/wrapper)\//, reason: BUILD },
  {
    pattern:
      /(^|\/)([^/]*\.bzl|\.bazelrc|workspace(\.bazel)?|module\.bazel|build(\.bazel)?|buck|flake\.nix|shell\.nix|default\.nix)$/,
    reason: BUILD,
  },
  {
    pattern:
      /(^|\/)(vite|vitest|webpack|rollup|jest|babel|eslint|prettier|postcss|tailwind|next|nuxt|svelte|astro|playwright|karma|gulpfile|gruntfile|metro|commitlint|lint-staged|esbuild|tsup)[^/]*\.(c|m)?(j|t)s$/,
    reason: BUILD,
  },
  {
    pattern: /(^|\/)\.(eslint|babel|prettier|stylelint|lintstaged|mocha|swc|npmpackagejsonlint)rc[^/]*$/,
    reason: BUILD,
  },
  {
    pattern:
      /(^|\/)((dockerfile|containerfile)[^/]*|[^/]*\.dockerfile|[^/]*compose[^/]*\.ya?ml|vagrantfile|procfile[^/]*)$/,
    reason: CONTAINER,
  },
  { pattern: /(^|\/)\.devcontainer(\/|\.json$)/, reason: CONTAINER },
  {
    pattern: /(^|\/)(\.litterbox(\.local)?\.toml|\.ripgreprc|\.curlrc|\.wgetrc|\.inputrc|\.gdbinit|\.lldbinit)$/,
    reason: 'configures a tool that runs on your machine',
  },
];

export interface RiskFacts {
  readonly change: FileChange;
  /** Octal mode and link target after the change. */
  readonly mode: string;
  readonly linkTarget?: string;
  readonly sizeBytes: number;
  readonly wasExecutable: boolean;
}

/** A file of this size hides more than a person reads. */
const HUGE_BYTES = 1024 * 1024;

/** One entry per path, with everything there is to say of it. `hooksPath` is what the person's configuration names. */
export function riskyChanges(
  facts: Iterable<RiskFacts>,
  allPaths: ReadonlySet<string>,
  hooksPath: string | undefined,
): readonly RiskyChange[] {
  const gitDirectories = gitLikeDirectories(allPaths);
  const twins = twinsOf(allPaths);
  const found: RiskyChange[] = [];
  for (const { change, mode, linkTarget, sizeBytes, wasExecutable } of facts) {
    const { path, status } = change;
    const reasons = new Set<string>();
    const folded = path.normalize('NFC').toLowerCase();
    for (const { pattern, reason } of RULES) if (pattern.test(folded)) reasons.add(reason);
    if (hooksPath !== undefined && (path === hooksPath || path.startsWith(`${hooksPath}/`))) reasons.add(HOOK);
    if (status !== 'deleted') {
      if (mode === '120000') reasons.add(linkReason(path, linkTarget ?? ''));
      if (mode === '160000') reasons.add('is a submodule');
      if (change.executable && !wasExecutable) reasons.add('becomes executable');
      if (sizeBytes > HUGE_BYTES) reasons.add('is larger than 1 MiB');
      if (change.binary && mode !== '120000') reasons.add('is binary: a diff does not show what it holds');
      if (twins.has(path)) reasons.add('differs from another name by case or Unicode form only');
      if (visibleName(path, Number.POSITIVE_INFINITY) !== path) {
        reasons.add('has invisible or control characters in its name');
      }
      for (const directory of gitDirectories) {
        if (path.toLowerCase().startsWith(`${directory}/`))
          reasons.add('lies in a directory that git takes for a repository');
      }
    } else if (reasons.size === 0) continue;
    if (reasons.size > 0) found.push({ path, reasons: [...reasons] });
  }
  return found;
}

function linkReason(path: string, target: string): string {
  if (target.startsWith('/')) return 'is a symbolic link to an absolute path';
  let depth = path.split('/').length - 1;
  for (const name of target.split('/')) {
    if (name === '..') depth--;
    else if (name !== '' && name !== '.') depth++;
    if (depth < 0) return 'is a symbolic link out of the repository';
  }
  return 'is a symbolic link';
}

/**
 * A bare repository needs no `.git`: HEAD, objects and refs are enough, and its config may run programs. With a `commondir`,
 * all but HEAD may lie elsewhere. On file systems that ignore case git finds them in any.
 */
function gitLikeDirectories(paths: ReadonlySet<string>): ReadonlySet<string> {
  const marks = new Map<string, Set<string>>();
  for (const path of paths) {
    const [, directory = '', name = ''] = /^(.+)\/(head|config|commondir)$/i.exec(path) ?? [];
    if (directory === '') continue;
    const folded = directory.toLowerCase();
    marks.set(folded, (marks.get(folded) ?? new Set()).add(name.toLowerCase()));
  }
  return new Set([...marks].filter(([, names]) => names.has('head') && names.size > 1).map(([directory]) => directory));
}

function twinsOf(paths: ReadonlySet<string>): ReadonlySet<string> {
  const firsts = new Map<string, string>();
  const twins = new Set<string>();
  for (const path of paths) {
    const folded = path.normalize('NFC').toLowerCase();
    const first = firsts.get(folded);
    if (first === undefined) firsts.set(folded, path);
    else twins.add(first).add(path);
  }
  return twins;
}
