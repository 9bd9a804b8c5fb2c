// Packs every public package as npm would publish it and looks at the tarball: publint for manifest and files,
// arethetypeswrong for how types are found by importers, and that nothing is missing or too much.
// Usage: check-packages.mjs; needs a build with bundles.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { outsidePath } from './outside-path.mjs';
import { packedPackages } from './packed-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
// Packages are for programs that import ES modules; `require` of them works where Node can do that.
const IGNORED_RESOLUTIONS = new Set(['node10', 'node16-cjs']);

const directory = await mkdtemp(join(tmpdir(), 'litterbox-pack-'));
const problems = [];
try {
  const packed = await packedPackages({ root, target: directory, env: { ...process.env, PATH: outsidePath() } });
  for (const { manifest, file, problems: ofContents } of packed) {
    problems.push(...ofContents);
    const tarball = await readFile(file);
    const say = (text) => problems.push(`${manifest.name}: ${text}`);

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
