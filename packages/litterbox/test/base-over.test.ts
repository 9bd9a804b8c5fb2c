import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { LibraryFixture } from './library-fixture.ts';
import { PROVIDER } from './provider.ts';

it('a base of another commit is made of what differs, and holds what the commit holds', async () => {
  await using fixture = new LibraryFixture({
    'kept/a': 'a\n',
    'gone/b/c': 'c\n',
    'gone-file': 'x\n',
    'directory-now/.keep': '',
    'file-now/inside': 'x\n',
    'mode.sh': '#!/bin/sh\n',
  });
  const litterbox = fixture.open();
  const first = await litterbox.create({ name: 'first' });
  fixture.git('rm', '-q', '-r', 'gone', 'gone-file', 'file-now');
  const files = { 'file-now': 'a file\n', 'new/d/e': 'e\n', "odd\nname's": 'odd\n' };
  for (const [path, text] of Object.entries(files)) fixture.file(path, text);
  fixture.git('add', '-A');
  fixture.git('update-index', '--chmod=+x', 'mode.sh');
  fixture.git('commit', '-q', '-m', 'second');
  const second = await litterbox.create({ name: 'second' });

  const bases = readdirSync(join(fixture.stateDirectory, `${PROVIDER}/bases`));
  expect(bases.filter((name) => /^[0-9a-f]+$/.test(name))).toHaveLength(1);
  expect(bases.filter((name) => /^[0-9a-f]+-[0-9a-f]+$/.test(name))).toHaveLength(1);
  const differences = bases.find((name) => name.includes('-')) ?? '';
  expect(readdirSync(join(fixture.stateDirectory, `${PROVIDER}/bases`, differences))).not.toContain('kept');

  const look = 'find . -mindepth 1 -exec stat -c "%F %n %a %s %Y" {} + | sort';
  const inside = (await second.run(look)).stdout;
  const whole = fixture.open({ stateDirectory: join(fixture.stateDirectory, '../other-state') });
  const unpacked = await whole.create({ name: 'whole' });
  expect(inside).toBe((await unpacked.run(look)).stdout);
  expect((await second.run('cat file-now new/d/e odd*; ls gone gone-file 2>&1 | wc -l')).stdout).toBe(
    'a file\ne\nodd\n2\n',
  );
  expect((await second.run(['true'])).recorded.revision).toBeUndefined();
  const recorded = await second.run('echo more >>kept/a; rm mode.sh; mkdir gone; echo back >gone/back');
  expect(recorded.recorded.changedFiles).toBe(3);
  expect(await second.diff()).toContain('+more');
  expect((await first.run('cat gone/b/c')).stdout).toBe('c\n');

  const fork = await second.fork({ name: 'fork' });
  expect((await fork.run('cat kept/a gone/back')).stdout).toBe('a\nmore\nback\n');
  await whole.delete('whole', { force: true });
});
