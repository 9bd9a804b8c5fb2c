import { fileURLToPath } from 'node:url';
import { existsSync, readdirSync } from 'node:fs';

const packages = new URL('packages/', import.meta.url);
const names = readdirSync(packages).filter((name) => existsSync(new URL(`${name}/package.json`, packages)));
const folders = [...names.map((name) => `packages/${name}`), 'bench'];
const cacheDirectory = process.env['LITTERBOX_JEST_CACHE'];

const swc = {
  jsc: { target: 'es2023', parser: { syntax: 'typescript' }, keepClassNames: true },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};

/** @type {import('jest').Config} */
export default {
  watchman: false,
  testTimeout: 900_000,
  // A test that failed may leave what keeps Node alive; it has been told, and the other tests' results are wanted.
  forceExit: true,
  testSequencer: '<rootDir>/tools/tests/test-sequencer.mjs',
  reporters: ['default', '<rootDir>/tools/tests/results-reporter.mjs'],
  projects: folders.map((folder) => ({
    displayName: folder.replace('packages/', ''),
    rootDir: `<rootDir>/${folder}`,
    testEnvironment: 'node',
    testMatch: ['<rootDir>/src/**/*.test.ts', '<rootDir>/test/**/*.test.ts'],
    setupFilesAfterEnv: [fileURLToPath(new URL('tools/tests/use-seed.mjs', import.meta.url))],
    extensionsToTreatAsEsm: ['.ts'],
    // Sibling packages are loaded from their sources, so a test run needs no build.
    testEnvironmentOptions: { customExportConditions: ['@litterbox/source', 'node', 'node-addons'] },
    transform: { '\\.ts$': ['@swc/jest', swc] },
    testTimeout: 900_000,
    ...(cacheDirectory ? { cacheDirectory } : {}),
  })),
};
