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

/**
 * The doors of those packages that are promised (`promised` of package.json): `{ name, directory, types }`, the last an absolute path of a
 * .d.ts file. All other doors are for the packages of Litterbox alone.
 */
export function promisedDoors(root) {
  return publicPackages(root).flatMap(({ directory, manifest }) =>
    Object.entries(manifest.exports ?? {})
      .filter(([door]) => manifest.promised?.includes(door))
      .map(([door, { types }]) => ({
        name: manifest.name + door.slice(1),
        directory,
        types: join(directory, types),
      })),
  );
}
