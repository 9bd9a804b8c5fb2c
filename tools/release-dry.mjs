// npm run release:dry: everything of a release but the release. Checks the tarballs, then lets npm publish each public package as a
// dry run. No registry is asked: the address given to npm is one where nobody listens.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { installedPackages } from './installed-packages.mjs';
import { outsidePath } from './outside-path.mjs';
import { allManifests, missingPrograms, publicPackages } from './public-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const packages = publicPackages(root);
/** What litterbox and one provider may take on a disk. */
const MOST_BYTES = 20e6;

for (const { directory, manifest } of allManifests(root))
  for (const path of manifest.private === true ? [] : missingPrograms(directory, manifest))
    throw new Error(
      `${path} was not built: install gcc-aarch64-linux-gnu and libc6-dev-arm64-cross, then npm run build.`,
    );

const versions = new Set(packages.map(({ manifest }) => manifest.version));
if (versions.size !== 1)
  throw new Error(`The packages go out together, but have the versions ${[...versions].join(', ')}.`);
for (const { manifest } of packages)
  for (const [name, range] of Object.entries(manifest.dependencies ?? {}))
    if (packages.some((one) => one.manifest.name === name) && range !== manifest.version)
      throw new Error(`${manifest.name} asks for ${name} ${range}, not for ${manifest.version}.`);

execFileSync(process.execPath, [fileURLToPath(new URL('check-packages.mjs', import.meta.url))], { stdio: 'inherit' });
const ownBytes = new Map();
for (const { directory, manifest } of packages) {
  const text = execFileSync('npm', ['publish', '--dry-run', '--json', '--access', 'public', '--ignore-scripts'], {
    cwd: directory,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PATH: outsidePath(),
      npm_config_registry: 'http://127.0.0.1:9/',
      npm_config_fetch_retries: '0',
    },
  });
  const { id, entryCount, size, unpackedSize } = found(JSON.parse(text), manifest.name);
  console.log(`${id}: ${entryCount} files, ${Math.round(size / 1024)} KiB`);
  ownBytes.set(manifest.name, unpackedSize);
}
for (const { manifest } of packages.filter(({ manifest }) => manifest.name.startsWith('@litterbox/provider-'))) {
  const { own, foreign } = installedPackages(root, ['litterbox', manifest.name]);
  const scripts = foreign.filter(({ hasScript }) => hasScript).map(({ path }) => path);
  const bytes = [...own.map((name) => ownBytes.get(name) ?? 0), ...foreign.map((one) => one.bytes)].reduce(
    (sum, one) => sum + one,
    0,
  );
  const count = own.length + foreign.length;
  console.log(`litterbox with ${manifest.name}: ${count} packages, ${(bytes / 1e6).toFixed(1)} MB`);
  if (scripts.length > 0) throw new Error(`${manifest.name} brings install scripts: ${scripts.join(', ')}.`);
  if (bytes > MOST_BYTES && manifest.name !== '@litterbox/provider-kubernetes')
    throw new Error(`${manifest.name} needs ${bytes} bytes installed.`);
}
console.log(`release: ${packages.length} packages would be published`);

/** npm tells of a package by itself, or below its name. */
function found(answer, name) {
  return answer[name] ?? answer;
}
