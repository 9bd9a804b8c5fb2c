import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { CliFixture, isBuilt } from './cli-fixture.ts';
import { loadedFiles } from './loaded-files.ts';

/**
 * Reading and running these is most of a short command, and their number does not depend on the machine: a twentieth more than there were, so
 * that a new use case has room and a command that loads all others has none. Whoever makes one lower lowers it here.
 */
const MOST = {
  list: { files: 3, kilobytes: 157 },
  mcp: { files: 42, kilobytes: 2920 },
  '--version': { files: 18, kilobytes: 220 },
};

(isBuilt ? test : test.skip).each(Object.entries(MOST))(
  'a cold %s reads no more of the bundle than it did',
  async (verb, most) => {
    await using fixture = new CliFixture();
    await fixture.run(['create', 'fix', '--provider', 'overlayfs']);
    const read = (await loadedFiles(fixture, [verb])).filter((url) => /\/packages\/(cli|mcp)\/bundle\//.test(url));
    const bytes = read.reduce((sum, url) => sum + statSync(fileURLToPath(url)).size, 0);
    const loaded = { files: read.length, kilobytes: Math.ceil(bytes / 1000) };
    expect(loaded.files).toBeGreaterThan(2); // what is counted is the bundle
    const isMore = loaded.files > most.files || loaded.kilobytes > most.kilobytes;
    expect({ ...loaded, isMore }).toEqual({ ...loaded, isMore: false });
  },
);
