import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CliFixture, isBuilt } from './cli-fixture.ts';
import { loadedFiles } from './loaded-files.ts';

/** The same list by the program that all commands share: global options before the verb are its own. */
const USUAL = ['--quiet', '--no-color'];

(isBuilt ? test : test.skip)('a list by files alone says what the usual one says', async () => {
  await using fixture = new CliFixture();
  const same = async (...flags: string[]) => {
    const [usual, atOnce] = [await fixture.run([...USUAL, 'list', ...flags]), await fixture.run(['list', ...flags])];
    expect(atOnce.stdout).toBe(usual.stdout);
    expect(atOnce.code).toBe(usual.code);
    return atOnce.stdout;
  };
  const isAtOnce = async (...flags: string[]) => {
    const loaded = await loadedFiles(fixture, ['list', ...flags]);
    expect(loaded.some((url) => url.endsWith('/at-once.cjs'))).toBe(true);
    return !loaded.some((url) => /\/main-[^/]*\.cjs$/.test(url));
  };

  expect(await isAtOnce()).toBe(false); // the repository is not known yet
  for (const name of ['one', 'two', 'three', 'four'])
    expect(await fixture.run(['create', name, '--provider', 'overlayfs'])).toMatchObject({ code: 0 });
  expect(await same()).toMatch(/^four\t/);
  expect(await isAtOnce()).toBe(true);

  for (const name of ['one', 'two'])
    expect(await fixture.run(['run', name, '--', 'sh', '-c', `echo ${name} >a.txt`])).toMatchObject({ code: 0 });
  expect(await fixture.run(['pause', 'two'])).toMatchObject({ code: 0 });
  expect(await fixture.run(['pause', 'three', '--stop'])).toMatchObject({ code: 0 });
  expect(await isAtOnce()).toBe(false); // git has to be asked about the work
  for (const flags of [[], ['--json'], ['--all'], ['--changed'], ['--all', '--json']]) {
    expect(await same(...flags)).toMatch(/one/);
    expect(await isAtOnce(...flags)).toBe(true);
  }
  expect(await same()).toMatch(/one\t.*\+1 -1, one file.*\ttwo$/m);

  for (const option of ['--changed', '--wide'])
    expect(await fixture.run(['list', '--all', option])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`--all and ${option} cannot be combined`),
    });

  const [, id = ''] = /"name":"four","id":"([^"]*)"/.exec(await same('--json')) ?? [];
  rmSync(join(fixture.stateDirectory, 'overlayfs/sandboxes', id, 'meta.json'));
  expect(await same()).toMatch(/four\terror/);
  rmSync(join(fixture.stateDirectory, 'overlayfs/sandboxes', id), { recursive: true });
  expect(await same()).toMatch(/four\tmissing/);
  expect(await isAtOnce()).toBe(true);

  expect(await fixture.run(['list'], undefined, { LITTERBOX_HOME: 'nowhere' })).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('nowhere'),
  });
});
