// Packs every public package as npm would publish it and looks at the tarball: publint for manifest and files,
// arethetypeswrong for how types are found by importers, and that nothing is missing or too much.
// Usage: check-packages.mjs; needs a build with bundles.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { outsidePath } from './outside-path.mjs';
import { publicPackages } from './public-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = promisify(execFile);
// Packages are for programs that import ES modules; `require` of them works where Node can do that.
const IGNORED_RESOLUTIONS = new Set(['node10', 'node16-cjs']);
const FORBIDDEN = /(?:^|\/)(?:test|node_modules)\/|\.test\.|\.tsbuildinfo$|(?:^|\/)\.(?!d\.ts)|\.log$|\.tgz$/;

const directory = await mkdtemp(join(tmpdir(), 'litterbox-pack-'));
const problems = [];
try {
  const packages = publicPackages(root);
  const { stdout } = await run(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', directory, ...packages.map(({ directory: at }) => at)],
    { cwd: root, maxBuffer: 2 ** 26, env: { ...process.env, PATH: outsidePath() } },
  );
  const packed = JSON.parse(stdout);
  for (const { name, filename, files } of packed) {
    const tarball = await readFile(join(directory, filename));
    const { manifest } = packages.find((one) => one.manifest.name === name);
    const paths = new Set(files.map(({ path }) => path));
    const say = (text) => problems.push(`${name}: ${text}`);

    for (const path of ['LICENSE', 'README.md']) if (!paths.has(path)) say(`${path} is missing`);
    for (const path of paths) if (FORBIDDEN.test(path)) say(`${path} must not be published`);
    for (const path of [...targetsOf(manifest.exports), ...targetsOf(manifest.bin)])
      if (!paths.has(path.replace(/^\.\//, ''))) say(`${path} is named in package.json and not in the tarball`);

    const { messages } = await publint({
      strict: true,
      pack: { tarball: tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.length) },
    });
    for (const message of messages) say(`publint: ${formatMessage(message, manifest, { color: false })}`);

    const { problems: found = [] } = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
    for (const { kind, resolutionKind, entrypoint } of found)
      if (!IGNORED_RESOLUTIONS.has(resolutionKind))
        say(`types: ${kind} of ${entrypoint ?? '.'} (${resolutionKind ?? 'all'})`);
  }
  if (problems.length > 0) {
    console.error(`packages:\n${problems.join('\n')}`);
    process.exitCode = 1;
  } else console.log(`packages: ${packed.length} tarballs clean`);
} finally {
  await rm(directory, { recursive: true, force: true });
}

/** Every file that a member of package.json leads to. */
function targetsOf(value) {
  if (typeof value === 'string') return [value];
  return value === undefined ? [] : Object.values(value).flatMap(targetsOf);
}
