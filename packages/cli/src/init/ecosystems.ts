/** What a kind of project needs before its tests run, told from a file at its top. */
export interface Ecosystem {
  /** The files that show it, all of them. */
  readonly files: readonly string[];
  readonly setup: readonly string[];
  /** Where the setup downloads from. */
  readonly hosts: readonly string[];
}

const NPM = ['registry.npmjs.org'];
const PYPI = ['pypi.org', 'files.pythonhosted.org'];

/** Of those that need the same tool, the surest first. */
export const ECOSYSTEMS: readonly (readonly Ecosystem[])[] = [
  [
    { files: ['package.json', 'package-lock.json'], setup: ['npm', 'ci'], hosts: NPM },
    { files: ['package.json', 'pnpm-lock.yaml'], setup: ['pnpm', 'install', '--frozen-lockfile'], hosts: NPM },
    { files: ['package.json', 'yarn.lock'], setup: ['yarn', 'install'], hosts: ['registry.yarnpkg.com', ...NPM] },
    { files: ['package.json', 'bun.lock'], setup: ['bun', 'install', '--frozen-lockfile'], hosts: NPM },
    { files: ['package.json'], setup: ['npm', 'install'], hosts: NPM },
  ],
  [
    {
      files: ['Cargo.toml', 'Cargo.lock'],
      setup: ['cargo', 'fetch', '--locked'],
      hosts: ['index.crates.io', 'static.crates.io'],
    },
    { files: ['Cargo.toml'], setup: ['cargo', 'fetch'], hosts: ['index.crates.io', 'static.crates.io'] },
  ],
  [
    { files: ['pyproject.toml', 'uv.lock'], setup: ['uv', 'sync', '--frozen'], hosts: PYPI },
    { files: ['pyproject.toml', 'poetry.lock'], setup: ['poetry', 'install'], hosts: PYPI },
    {
      files: ['requirements.txt'],
      setup: ['sh', '-c', 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt'],
      hosts: PYPI,
    },
    {
      files: ['pyproject.toml'],
      setup: ['sh', '-c', 'python3 -m venv .venv && .venv/bin/pip install -e .'],
      hosts: PYPI,
    },
  ],
  [{ files: ['go.mod'], setup: ['go', 'mod', 'download'], hosts: ['proxy.golang.org', 'sum.golang.org'] }],
  [{ files: ['Gemfile'], setup: ['bundle', 'install'], hosts: ['rubygems.org', 'index.rubygems.org'] }],
  [{ files: ['composer.json'], setup: ['composer', 'install'], hosts: ['repo.packagist.org', 'api.github.com'] }],
];

/** The surest of each kind. */
export function detected(hasFile: (name: string) => boolean): readonly Ecosystem[] {
  return ECOSYSTEMS.flatMap((kind) => kind.find(({ files }) => files.every(hasFile)) ?? []);
}
