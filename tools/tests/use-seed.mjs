// Runs before each test file: property tests draw from the seed of the run, so that a run can be repeated.
import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { decideSeed, FIXED_SEED } from './seed.mjs';

// Loading fast-check takes a tenth of a second, which most files have no use for.
const { testPath } = expect.getState();
if (testPath && readFileSync(testPath, 'utf8').includes("'fast-check'")) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: decideSeed(process.env['LITTERBOX_SEED'], FIXED_SEED) });
}
