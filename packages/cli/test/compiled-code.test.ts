import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CliFixture } from './cli-fixture.ts';

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
