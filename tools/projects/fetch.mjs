import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Sources and tools of others, kept between runs; nothing of them is ever part of this repository. */
export const CACHE = process.env['LITTERBOX_PROJECTS_CACHE'] ?? '/var/lib/litterbox-test/projects';

const sh = (text, cwd, ...args) =>
  execFileSync('sh', ['-ec', text, 'sh', ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 28,
  }).toString();

/** Makes a directory complete before it gets its name. */
function once(path, fill) {
  if (existsSync(path)) return path;
  const unfinished = `${path}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  fill(unfinished);
  renameSync(unfinished, path);
  return path;
}

/** The tree of a project as it is committed, with `deps.tgz` where it needs more. @param {import('./projects.mjs').Project} project */
export function fetchTree({ name, source, debs = [], npm, prepare }) {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return once(join(CACHE, 'trees', slug), (tree) => {
    if ('debian' in source) sh('tar xf "$1" --strip-components=1', tree, debianSource(source.debian));
    else if ('npm' in source) {
      sh('npm pack --silent "$1" && tar xzf *.tgz --strip-components=1 && rm -f *.tgz', tree, source.npm);
    } else
      for (const [path, text] of Object.entries(source.files)) {
        mkdirSync(dirname(join(tree, path)), { recursive: true });
        writeFileSync(join(tree, path), text);
      }
    rmSync(join(tree, '.git'), { recursive: true, force: true });
    for (const deb of debs) sh('dpkg -x "$1" vendored', tree, debianPackage(deb));
    if (npm) installNodeModules(tree, npm);
    if (prepare) sh(prepare, tree);
    const made = ['vendored', 'node_modules'].filter((entry) => existsSync(join(tree, entry)));
    if (made.length > 0) sh(`tar czf deps.tgz ${made.join(' ')} && rm -rf ${made.join(' ')}`, tree);
    // A build makes what a review is not about.
    writeFileSync(join(tree, '.gitignore'), '/vendored/\nnode_modules/\n*.o\n*.a\n');
  });
}

/** Beside a manifest of the project's own, which asks for more than its tests do. */
function installNodeModules(tree, dependencies) {
  const place = join(tree, '.install');
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, dependencies }));
  sh('npm install --silent --no-audit --no-fund --ignore-scripts=false', place);
  renameSync(join(place, 'node_modules'), join(tree, 'node_modules'));
  rmSync(place, { recursive: true });
}

const apt = () => {
  const root = join(CACHE, 'apt');
  mkdirSync(join(root, 'lists/partial'), { recursive: true });
  mkdirSync(join(root, 'cache/archives/partial'), { recursive: true });
  // The machine's own mirrors, for sources instead of packages.
  if (!existsSync(join(root, 'src.list'))) {
    const release = sh('. /etc/os-release; printf %s "$VERSION_CODENAME"', '/');
    const mirror = sh(
      `cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -oE 'https?://[^ ]*/debian/?( |$)' | head -n 1`,
      '/',
    ).trim();
    const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';
    writeFileSync(join(root, 'src.list'), `deb-src [signed-by=${keyring}] ${mirror} ${release} main\n`);
  }
  return [
    ['Dir::Etc::sourcelist', join(root, 'src.list')],
    ['Dir::Etc::sourceparts', '/dev/null'],
    ['Dir::State::lists', join(root, 'lists')],
    ['Dir::Cache', join(root, 'cache')],
  ]
    .map(([key, value]) => `-o ${key}=${value}`)
    .join(' ');
};

/** The archive of the authors, without Debian's patches. */
function debianSource(name) {
  const directory = join(CACHE, 'sources');
  mkdirSync(directory, { recursive: true });
  const wanted = () =>
    readdirSync(directory).find((file) => file.startsWith(`${name}_`) && /\.orig\.tar\.(gz|xz|bz2)$/.test(file));
  if (!wanted()) sh(`apt-get -qq ${apt()} update && apt-get -qq ${apt()} source --download-only "$1"`, directory, name);
  return join(directory, wanted() ?? `${name}.missing`);
}

function debianPackage(name) {
  const directory = join(CACHE, 'debs');
  mkdirSync(directory, { recursive: true });
  const wanted = () => readdirSync(directory).find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'));
  if (!wanted()) sh('apt-get -qq download "$1"', directory, name);
  return join(directory, wanted() ?? `${name}.missing`);
}

/** Directory of tools that lie outside of the system, as people unpack them. */
export function fetchTools() {
  const tools = join(CACHE, 'tools');
  mkdirSync(tools, { recursive: true });
  if (existsSync('/usr/share/maven'))
    once(join(tools, 'maven'), (place) => void sh('cp -rL /usr/share/maven/. .', place));
  once(join(tools, 'npm-prefix'), (place) => void sh('npm install --silent -g pnpm@9.15.9 --prefix "$PWD"', place));
  return tools;
}
