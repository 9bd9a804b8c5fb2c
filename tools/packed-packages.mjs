import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publicPackages } from './public-packages.mjs';

const run = promisify(execFile);
/** What no package may publish: tests, what the compiler remembers, dependencies, and what is left lying about. */
const FORBIDDEN = /(?:^|\/)(?:test|node_modules)\/|\.test\.|\.tsbuildinfo$|(?:^|\/)\.(?!d\.ts)|\.log$|\.tgz$/;

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
    const { manifest } = packages.find((one) => one.manifest.name === name);
    const paths = new Set(files.map(({ path }) => path));
    const problems = [
      ...['LICENSE', 'README.md'].filter((path) => !paths.has(path)).map((path) => `${path} is missing`),
      ...[...paths].filter((path) => FORBIDDEN.test(path)).map((path) => `${path} must not be published`),
      ...[...targetsOf(manifest.exports), ...targetsOf(manifest.bin)]
        .filter((path) => !paths.has(path.replace(/^\.\//, '')))
        .map((path) => `${path} is named in package.json and not in the tarball`),
    ].map((problem) => `${name}: ${problem}`);
    return { manifest, file: join(target, filename), problems };
  });
}

/** Every file that a member of package.json leads to. */
function targetsOf(value) {
  if (typeof value === 'string') return [value];
  return value === undefined ? [] : Object.values(value).flatMap(targetsOf);
}
