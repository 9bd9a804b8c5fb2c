import type { Policy } from './policy.ts';

/**
 * What package managers and build tools read without being told: lock files, and the manifests and settings beside them, by their
 * names. A manifest more costs a setup that need not have run; one too few gives a sandbox what another setup left.
 */
const READ_BY_TOOLS = new Set(
  `package.json package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb bunfig.toml
deno.json deno.lock .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs lerna.json .nvmrc .node-version
Cargo.toml Cargo.lock rust-toolchain rust-toolchain.toml
pyproject.toml setup.py setup.cfg poetry.lock uv.lock uv.toml pdm.lock Pipfile Pipfile.lock environment.yml tox.ini .python-version
Gemfile Gemfile.lock gems.rb gems.locked .ruby-version composer.json composer.lock
go.mod go.sum go.work go.work.sum mix.exs mix.lock rebar.config rebar.lock
build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties gradle.lockfile buildscript-gradle.lockfile
verification-metadata.xml gradle-wrapper.properties libs.versions.toml pom.xml maven-wrapper.properties
packages.lock.json Directory.Packages.props global.json nuget.config paket.lock
flake.nix flake.lock shell.nix default.nix pubspec.yaml pubspec.lock Package.swift Package.resolved Podfile Podfile.lock
cabal.project cabal.project.freeze stack.yaml stack.yaml.lock conanfile.py conanfile.txt conan.lock vcpkg.json
Makefile makefile GNUmakefile justfile Justfile Taskfile.yml Taskfile.yaml Rakefile CMakeLists.txt meson.build
.tool-versions mise.toml .mise.toml mise.lock .gitignore .gitmodules`.split(/\s+/),
);
const REQUIREMENTS = /^(requirements|constraints)[^/]*\.(txt|in)$/;

/**
 * Tells which files of a base tree a setup reads, as far as that can be seen from outside: what tools read by themselves, and every
 * file that a word of the commands names or that lies below a directory so named. A word that names the whole workspace, such as
 * `.`, means all files.
 */
export function setupInputs({
  setup,
  workspaceGit,
}: Partial<Pick<Policy, 'workspaceGit'>> & Pick<Policy, 'setup'>): (path: string) => boolean {
  const named = new Set<string>();
  for (const word of setup.flat().flatMap((text) => text.split(/[\s;&|<>()`"'=,$:{}]+/))) {
    const path = plainPath(word);
    if (path !== undefined) named.add(path);
  }
  if (workspaceGit === 'throwaway' || named.has('')) return () => true;
  return (path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (READ_BY_TOOLS.has(name) || REQUIREMENTS.test(name) || named.has(path)) return true;
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1))
      if (named.has(path.slice(0, cut))) return true;
    return false;
  };
}

/** The path below the workspace that a word may mean; empty for the workspace itself, `undefined` for none. */
function plainPath(word: string): string | undefined {
  if (word === '' || word.startsWith('/') || word.startsWith('-')) return undefined;
  const parts: string[] = [];
  for (const part of word.split('/')) {
    if (part === '..' && parts.pop() === undefined) return undefined;
    if (part !== '.' && part !== '..' && part !== '') parts.push(part);
  }
  return parts.join('/');
}
