import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Every package that is published: its directory and manifest, by name. Not those that hold a program which was not built, as one of another
 * architecture is not where Debian's compiler for it is missing: `release:dry` refuses to go without them.
 */
export function publicPackages(root) {
  return allManifests(root)
    .filter(({ directory, manifest }) => manifest.private !== true && missingPrograms(directory, manifest).length === 0)
    .sort((one, other) => (one.manifest.name < other.manifest.name ? -1 : 1));
}

/** Every package of the repository, in no order. */
export function allManifests(root) {
  return readdirSync(join(root, 'packages'))
    .map((folder) => join(root, 'packages', folder))
    .filter((directory) => existsSync(join(directory, 'package.json')))
    .map((directory) => ({ directory, manifest: JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) }));
}

/** Programs that a package gives to others by their paths, and that are not there. */
export function missingPrograms(directory, manifest) {
  return Object.values(manifest.exports ?? {})
    .filter((path) => typeof path === 'string' && path.startsWith('./dist/'))
    .map((path) => join(directory, path))
    .filter((path) => !existsSync(path));
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
