/** What package managers and builds keep in each package of a repository, and the tracked files that a package is known by. */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  node_modules: ['package.json'],
  target: ['pom.xml'],
  build: ['build.gradle', 'build.gradle.kts'],
};

const split = (path: string) => {
  const cut = path.lastIndexOf('/');
  return [path.slice(0, cut + 1), path.slice(cut + 1)] as const;
};

/** Whether a tracked file tells of a package that may have what is named in it. */
export function isOfPackage(path: string, named: readonly string[]): boolean {
  const name = split(path)[1];
  return named.some((one) => KEPT[split(one)[1]]?.includes(name));
}

/**
 * Paths of what packages below the named ones have of the same kind: with `node_modules`, `packages/a/node_modules`, where
 * `packages/a/package.json` is tracked. One install or build made them all.
 *
 * @param tracked files of the base, those at least for which {@link isOfPackage} holds
 */
export function packageParts(named: readonly string[], tracked: Iterable<string>): readonly string[] {
  const found = new Set<string>();
  for (const path of tracked) {
    const [directory, file] = split(path);
    for (const one of named) {
      const [above, name] = split(one);
      if (directory === above || !directory.startsWith(above) || !KEPT[name]?.includes(file)) continue;
      if (!directory.includes(`/${name}/`) && !directory.startsWith(`${name}/`)) found.add(`${directory}${name}`);
    }
  }
  return [...found].sort();
}
