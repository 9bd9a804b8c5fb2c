import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publicPackages } from './public-packages.mjs';

const run = promisify(execFile);
/** What no package may publish: tests, what the compiler remembers, dependencies, and what is left lying about. */
const FORBIDDEN = /(?:^|\/)(?:test|node_modules)\/|\.test\.|\.tsbuildinfo$|(?:^|\/)\.(?!d\.ts)|\.log$|\.tgz$/;

/** `from` of a statement, and `import()`, of a package. */
const IMPORT = /^(?:import|export)\b[^;'"`]*?\bfrom\s*['"]([^.'"/][^'"]*)['"];|\bimport\(['"]([^.'"/][^'"]*)['"]\)/gm;

/**
 * Packs every public package as npm would publish it, and looks at what is in it. Needs a build with bundles.
 *
 * @param {{ root: string, target: string, env: Record<string, string> }} options `target`: an absolute directory for the tarballs
 * @returns {Promise<{ manifest: object, file: string, problems: string[] }[]>} absolute paths of tarballs; a problem is one line
 */
export async function packedPackages({ root, target, env }) {
  const packages = publicPackages(root);
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', target, ...packages.map(({ directory }) => directory)],
    { cwd: root, maxBuffer: 2 ** 26, env },
  );
  // A list, or by name: npm's versions differ.
  return Object.values(JSON.parse(stdout)).map(({ name, filename, files }) => {
    const { manifest, directory } = packages.find((one) => one.manifest.name === name);
    const paths = new Set(files.map(({ path }) => path));
    const problems = [
      ...['LICENSE', 'README.md'].filter((path) => !paths.has(path)).map((path) => `${path} is missing`),
      ...[...paths].filter((path) => FORBIDDEN.test(path)).map((path) => `${path} must not be published`),
      ...[...targetsOf(manifest.exports), ...targetsOf(manifest.bin)]
        .filter((path) => !paths.has(path.replace(/^\.\//, '')))
        .map((path) => `${path} is named in package.json and not in the tarball`),
      ...strangers(manifest, directory, paths).map((other) => `it imports ${other}, which no dependency brings`),
    ].map((problem) => `${name}: ${problem}`);
    return { manifest, file: join(target, filename), problems };
  });
}

/** Packages that compiled modules import and package.json does not name. */
function strangers(manifest, directory, paths) {
  const { name, dependencies, optionalDependencies, peerDependencies } = manifest;
  const known = new Set([name, ...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })]);
  const texts = [...paths]
    .filter((path) => /^dist\/.*\.js$/.test(path))
    .map((path) => readFileSync(join(directory, path), 'utf8'));
  const imported = texts.flatMap((text) => [...text.matchAll(IMPORT)].map(([, one, other]) => one ?? other));
  const packages = imported.map((one) => /^(?:@[^/]+\/)?[^/]+/.exec(one)?.[0] ?? one);
  return [...new Set(packages)].filter((one) => !known.has(one) && !isBuiltin(one));
}

/** Every file that a member of package.json leads to. */
function targetsOf(value) {
  if (typeof value === 'string') return [value];
  return value === undefined ? [] : Object.values(value).flatMap(targetsOf);
}
