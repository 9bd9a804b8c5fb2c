import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CliFixture } from './cli-fixture.ts';
import { VERSION } from '../src/version.ts';

test('AX196: compiled code that a command runs is of a directory in which nobody else writes', async () => {
  await using fixture = new CliFixture();
  const shared = join(fixture.directory, 'shared');
  const place = join(fixture.directory, '.cache/litterbox/compiled');
  mkdirSync(shared);
  const environment = { TMPDIR: shared, XDG_CACHE_HOME: '' };
  const kept = async () => {
    expect(await fixture.run(['list'], undefined, environment)).toMatchObject({ code: 0 });
    expect(readdirSync(shared)).toEqual([]);
    return existsSync(place) ? readdirSync(place).length : 0;
  };

  expect(await kept()).toBe(1);
  expect(statSync(place).mode & 0o777).toBe(0o700);
  rmSync(place, { recursive: true });
  mkdirSync(place);
  chmodSync(place, 0o777);
  expect(await kept()).toBe(0);
  rmSync(place, { recursive: true });
  mkdirSync(join(shared, '../theirs'));
  symlinkSync(join(shared, '../theirs'), place);
  expect(await kept()).toBe(0);
  rmSync(dirname(place), { recursive: true });
  expect(await fixture.run(['list'], undefined, { ...environment, HOME: 'nowhere' })).toMatchObject({ code: 0 });
  expect(existsSync(place)).toBe(false);
});

test('the first start of a release removes what others compiled and left for a week, and no later start does', async () => {
  await using fixture = new CliFixture();
  const place = join(fixture.directory, '.cache/litterbox/compiled');
  const environment = { XDG_CACHE_HOME: '' };
  const other = (name: string, days: number) => {
    mkdirSync(join(place, name, 'v24'), { recursive: true });
    const then = Date.now() / 1000 - days * 24 * 3600;
    utimesSync(join(place, name), then, then);
  };
  other('0.0.1', 8);
  other('9.9.9', 6);
  chmodSync(place, 0o700);
  expect(await fixture.run(['list'], undefined, environment)).toMatchObject({ code: 0 });
  expect(readdirSync(place).sort()).toEqual([VERSION, '9.9.9']);
  other('0.0.1', 8);
  expect(await fixture.run(['list'], undefined, environment)).toMatchObject({ code: 0 });
  expect(readdirSync(place).sort()).toEqual(['0.0.1', VERSION, '9.9.9']);
});
