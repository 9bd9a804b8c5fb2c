import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './command.mjs';

/** What no package may publish: tests, what the compiler remembers, and dependencies. */
const UNWANTED = /\.test\.|\.tsbuildinfo$|(^|\/)node_modules\/|^(dist\/)?test\//;

/**
 * Packs every package that is not private, as npm would publish it, and looks at what is in it.
 *
 * @returns {Promise<{ name: string, version: string, file: string }[]>} absolute paths of tarballs
 * @throws Error when a door or a command of a package is not in its tarball, or what does not belong there is
 */
export async function packAll({ root, target, env }) {
  const packages = join(root, 'packages');
  const packed = [];
  for (const folder of readdirSync(packages).sort()) {
    const manifest = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8'));
    if (manifest.private) continue;
    const said = await command(['npm', 'pack', '--json', '--silent', '--pack-destination', target], {
      cwd: join(packages, folder),
      env,
    });
    const answer = JSON.parse(said.slice(said.search(/^[[{]/m)));
    const [{ filename, files }] = Array.isArray(answer) ? answer : Object.values(answer);
    const paths = new Set(files.map(({ path }) => path));
    const wanted = [...doorsOf(manifest.exports), ...Object.values(manifest.bin ?? {})].map((path) =>
      path.replace(/^\.\//, ''),
    );
    const missing = wanted.filter((path) => !paths.has(path));
    const strange = [...paths].filter((path) => UNWANTED.test(path));
    if (missing.length > 0) throw new Error(`${manifest.name} does not publish ${missing.join(', ')}`);
    if (strange.length > 0) throw new Error(`${manifest.name} publishes ${strange.slice(0, 5).join(', ')}`);
    packed.push({ name: manifest.name, version: manifest.version, file: join(target, filename) });
  }
  return packed;
}

function doorsOf(door) {
  return typeof door === 'string' ? [door] : Object.values(door).flatMap(doorsOf);
}
