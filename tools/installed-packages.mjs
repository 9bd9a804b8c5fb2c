import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What `npm install` of some of our packages brings along from others, by the lock file: its folder, its size on this disk, and whether it
 * would run a script.
 *
 * @param {string} root of the repository
 * @param {readonly string[]} names of our packages
 * @returns {{ own: string[], foreign: { path: string, bytes: number, hasScript: boolean }[] }}
 */
export function installedPackages(root, names) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const found = new Set();
  const wanted = names.map((name) => `node_modules/${name}`);
  for (let path = wanted.pop(); path !== undefined; path = wanted.pop()) {
    const entry = packages[path];
    const real = entry?.link ? entry.resolved : path;
    if (found.has(real) || !entry || !isForHere(packages[real])) continue;
    found.add(real);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packages[real];
    const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional);
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])
      wanted.push(placeOf(packages, real, name));
  }
  const all = [...found];
  const isOwn = (path) => path.startsWith('packages/') && !path.includes('node_modules/');
  return {
    own: all.filter(isOwn).map((path) => packages[path].name ?? path.replace('packages/', '')),
    foreign: all
      .filter((path) => !isOwn(path))
      .map((path) => ({ path, bytes: sizeOf(join(root, path)), hasScript: packages[path].hasInstallScript === true })),
  };
}

/** As Node looks a package up: in the folder of who asks, then above. */
function placeOf(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (packages[path] || folder === '') return path;
  }
}

const isForHere = ({ os = [process.platform], cpu = [process.arch] }) =>
  os.includes(process.platform) && cpu.includes(process.arch);

function sizeOf(directory) {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files
    .filter(({ parentPath }) => !parentPath.slice(directory.length).includes('node_modules'))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
