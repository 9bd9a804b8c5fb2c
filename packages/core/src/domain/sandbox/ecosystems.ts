/** What a kind of project needs before its tests run. Files at its top show which kind it is. */
export interface Ecosystem {
  /** The files that show it, all of them. */
  readonly files: readonly string[];
  readonly setup: readonly string[];
  /** Where the setup downloads from. */
  readonly hosts: readonly string[];
  /** The directory at the project's top that has the dependencies where it is there; most projects let git ignore it. */
  readonly directory?: string;
  /** The files alone show that there is something to download. */
  readonly isCertain: boolean;
  /** A container image that has the tools. */
  readonly image: string;
}

const NPM = ['registry.npmjs.org'];
const PYPI = ['pypi.org', 'files.pythonhosted.org'];
const NODE = { directory: 'node_modules', image: 'node:24' } as const;
const RUST = { directory: 'target', hosts: ['index.crates.io', 'static.crates.io'], image: 'rust:1' } as const;
const PYTHON = { directory: '.venv', hosts: PYPI, image: 'python:3.13' } as const;

/** Of those that need the same tool, the surest first. */
export const ECOSYSTEMS: readonly (readonly Ecosystem[])[] = [
  [
    { ...NODE, files: ['package.json', 'package-lock.json'], setup: ['npm', 'ci'], hosts: NPM, isCertain: true },
    {
      ...NODE,
      files: ['package.json', 'pnpm-lock.yaml'],
      setup: ['pnpm', 'install', '--frozen-lockfile'],
      hosts: NPM,
      isCertain: true,
    },
    {
      ...NODE,
      files: ['package.json', 'yarn.lock'],
      setup: ['yarn', 'install'],
      hosts: ['registry.yarnpkg.com', ...NPM],
      isCertain: true,
    },
    {
      ...NODE,
      files: ['package.json', 'bun.lock'],
      setup: ['bun', 'install', '--frozen-lockfile'],
      hosts: NPM,
      isCertain: true,
      image: 'oven/bun:1',
    },
    { ...NODE, files: ['package.json'], setup: ['npm', 'install'], hosts: NPM, isCertain: false },
  ],
  [
    { ...RUST, files: ['Cargo.toml', 'Cargo.lock'], setup: ['cargo', 'fetch', '--locked'], isCertain: true },
    { ...RUST, files: ['Cargo.toml'], setup: ['cargo', 'fetch'], isCertain: false },
  ],
  [
    { ...PYTHON, files: ['pyproject.toml', 'uv.lock'], setup: ['uv', 'sync', '--frozen'], isCertain: true },
    { ...PYTHON, files: ['pyproject.toml', 'poetry.lock'], setup: ['poetry', 'install'], isCertain: true },
    {
      ...PYTHON,
      files: ['requirements.txt'],
      setup: ['sh', '-c', 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt'],
      isCertain: true,
    },
    {
      ...PYTHON,
      files: ['pyproject.toml'],
      setup: ['sh', '-c', 'python3 -m venv .venv && .venv/bin/pip install -e .'],
      isCertain: false,
    },
  ],
  [
    goModules(['go.mod', 'go.sum'], true),
    goModules(['go.mod'], false), // nothing to download, as far as go knows
  ],
  [
    {
      files: ['Gemfile'],
      setup: ['bundle', 'install'],
      hosts: ['rubygems.org', 'index.rubygems.org'],
      isCertain: true,
      image: 'ruby:3',
    },
  ],
  [
    {
      files: ['composer.json'],
      setup: ['composer', 'install'],
      hosts: ['repo.packagist.org', 'api.github.com'],
      directory: 'vendor',
      isCertain: false,
      image: 'composer:2',
    },
  ],
];

function goModules(files: readonly string[], isCertain: boolean): Ecosystem {
  const hosts = ['proxy.golang.org', 'sum.golang.org'];
  return { files, setup: ['go', 'mod', 'download'], hosts, directory: 'vendor', isCertain, image: 'golang:1' };
}

/** The surest of each kind. */
export function detected(hasFile: (name: string) => boolean): readonly Ecosystem[] {
  return ECOSYSTEMS.flatMap((kind) => kind.find(({ files }) => files.every(hasFile)) ?? []);
}
