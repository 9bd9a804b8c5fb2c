import { existsSync, readdirSync } from 'node:fs';

const packages = new URL('packages/', import.meta.url);
const names = readdirSync(packages).filter((name) => existsSync(new URL(`${name}/package.json`, packages)));
const folders = [...names.map((name) => `packages/${name}`), 'bench'];
const cacheDirectory = process.env['LITTERBOX_JEST_CACHE'];

// What takes too long for every run: npm run test:foreign.
const byHand = process.env['LITTERBOX_TEST_FOREIGN'] ? ['<rootDir>/test/**/*.kit.ts'] : [];

// What CI runs in turns, by the commit: see .ci/run. Without a turn everything runs.
const HARDENING = {
  0: ['attacks', 'bad-input', 'wild', 'model', 'security-page'],
  1: ['faults/(damage|disk|failpoints|signals|sweep)', 'crowd'],
  2: ['faults/kill-'],
};
const turn = process.env['LITTERBOX_TEST_TURN'];
const others = Object.entries(HARDENING).flatMap(([number, parts]) => (!turn || number === turn ? [] : parts));
// Without root it is another kit, of the turn in which the ordinary user's tests are.
const isRootless = process.getuid?.() !== 0;
const ignored = [
  '/node_modules/',
  ...others.map((part) => `hardening/test/${part}`),
  ...(turn && turn !== '2' && !isRootless ? ['provider-podman/test/busybox'] : []),
];

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
  testSequencer: '<rootDir>/tools/test-sequencer.mjs',
  reporters: ['default', '<rootDir>/tools/ci-reporter.mjs'],
  projects: folders.map((folder) => ({
    displayName: folder.replace('packages/', ''),
    rootDir: `<rootDir>/${folder}`,
    testEnvironment: 'node',
    testMatch: ['<rootDir>/src/**/*.test.ts', '<rootDir>/test/**/*.test.ts', ...byHand],
    testPathIgnorePatterns: ignored,
    extensionsToTreatAsEsm: ['.ts'],
    // Sibling packages are loaded from their sources, so a test run needs no build.
    testEnvironmentOptions: { customExportConditions: ['@litterbox/source', 'node', 'node-addons'] },
    transform: { '\\.ts$': ['@swc/jest', swc] },
    testTimeout: 900_000,
    ...(cacheDirectory ? { cacheDirectory } : {}),
  })),
};
