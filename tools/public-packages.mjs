import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every package that is published: its directory and manifest, by name. */
export function publicPackages(root) {
  return readdirSync(join(root, 'packages'))
    .map((folder) => join(root, 'packages', folder))
    .filter((directory) => existsSync(join(directory, 'package.json')))
    .map((directory) => ({ directory, manifest: JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) }))
    .filter(({ manifest }) => manifest.private !== true)
    .sort((one, other) => (one.manifest.name < other.manifest.name ? -1 : 1));
}

/** Every door of those packages that has types: `{ name, directory, types }`, the last an absolute path of a .d.ts file. */
export function publicDoors(root) {
  return publicPackages(root).flatMap(({ directory, manifest }) =>
    Object.entries(manifest.exports ?? {})
      .filter(([, target]) => target.types !== undefined)
      .map(([door, { types }]) => ({
        name: manifest.name + door.slice(1),
        directory,
        types: join(directory, types),
      })),
  );
}
