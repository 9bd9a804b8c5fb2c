import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { CliFixture } from './cli-fixture.ts';

const REPORTER = new URL('report-loaded.mjs', import.meta.url).href;

/** The files of modules that a command loads, as URLs. */
export async function loadedFiles(fixture: CliFixture, args: readonly string[]): Promise<readonly string[]> {
  const file = join(fixture.directory, 'loaded');
  const options = { NODE_OPTIONS: `--import=${REPORTER}`, LITTERBOX_TEST_LOADED: file };
  expect(await fixture.run(args, undefined, options)).toMatchObject({ code: 0 });
  return readFileSync(file, 'utf8').split('\n');
}
