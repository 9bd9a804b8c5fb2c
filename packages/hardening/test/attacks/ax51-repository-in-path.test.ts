// Directories of the repository in PATH: none of them is shown inside as a directory of tools, none gives the person a program.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { type AttackFixture, canary, onTheHost, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';
import { commandLine, onTerminal } from './command-line.ts';

const USUAL = '/usr/bin:/bin:/usr/sbin:/sbin';

function makeProgram(directory: string, name: string, body: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(directory, name), 0o755);
}

/** What `cat` says inside of a file of the host, with that PATH outside. */
function readInside(fixture: AttackFixture, name: string, file: string, searchPath: string) {
  const env = { PATH: `${searchPath}:${USUAL}` };
  expect(commandLine(fixture, ['create', name], { env })).toMatchObject({ code: 0 });
  const { code, stdout } = commandLine(fixture, ['run', name, '--', 'cat', file], { env });
  return { code, stdout };
}

describe('a repository that PATH names', () => {
  attack('AX51: the live work tree is not shown inside where PATH has a directory of it', async (fixture) => {
    const { scratch } = fixture;
    const [tools, bin] = [join(scratch.directory, 'tools'), join(scratch.repository, 'bin')];
    scratch.file('.litterbox.toml', '[workspace]\nworkdir = "/src"\n');
    for (const directory of [tools, bin, scratch.repository]) {
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, 'notes.txt'), 'untracked\n');
    }
    fixture.acceptRepository();
    const control = readInside(fixture, 'control', join(tools, 'notes.txt'), tools);
    positiveControl('a directory of tools beside the repository', control, ({ stdout }) => stdout === 'untracked\n');
    const parent = join(scratch.repository, 'notes.txt');
    for (const [name, file, searchPath] of [
      ['top', parent, scratch.repository],
      ['below', join(bin, 'notes.txt'), bin],
      ['above', parent, scratch.directory],
    ] as const)
      expect({ name, ...readInside(fixture, name, file, searchPath) }).toEqual({ name, code: 1, stdout: '' });
  });

  attack('AX70: links in PATH show neither the live work tree nor a directory of keys', async (fixture) => {
    const { scratch } = fixture;
    const [tools, kit] = [join(scratch.directory, 'tools'), join(scratch.directory, 'kit')];
    scratch.file('.litterbox.toml', '[workspace]\nworkdir = "/src"\n');
    mkdirSync(tools);
    const places = {
      control: join(kit, 'node_modules'),
      tree: join(scratch.repository, 'node_modules'),
      library: join(scratch.repository, 'lib'),
      keys: join(scratch.directory, '.ssh', 'node_modules'),
      other: join(scratch.directory, 'letters'),
    };
    for (const [name, place] of Object.entries(places)) {
      makeProgram(join(place, name === 'library' ? '../bin' : 'package'), 'run', 'true');
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, 'notes.txt'), 'private\n');
      symlinkSync(join(place, name === 'library' ? '../bin' : 'package', 'run'), join(tools, `link-${name}`));
    }
    fixture.acceptRepository();
    const control = readInside(fixture, 'control', join(places.control, 'notes.txt'), tools);
    positiveControl('a package beside the repository', control, ({ stdout }) => stdout === 'private\n');
    for (const name of ['tree', 'library', 'keys', 'other'] as const)
      expect({ name, ...readInside(fixture, name, join(places[name], 'notes.txt'), tools) }).toEqual({
        name,
        code: 1,
        stdout: '',
      });
  });

  attack(
    'AX105: tokens beside programs of PATH are not shown, under old names, behind links, far down and after a login',
    async (fixture) => {
      const { scratch } = fixture;
      const kit = join(scratch.directory, 'kit');
      for (const directory of ['bin', 'lib/held', 'lib/etc']) mkdirSync(join(kit, directory), { recursive: true });
      makeProgram(join(kit, 'bin'), 'kit', `cat "${kit}/lib/words"`);
      writeFileSync(join(kit, 'lib/words'), 'of the kit\n');
      const secrets = ['lib/held/store', 'lib/etc/npmrc', 'lib/.NPMRC'].map((path) => {
        const secret = canary(path);
        writeFileSync(join(kit, path), secret.secret);
        return secret;
      });
      symlinkSync('held/store', join(kit, 'lib/credentials.toml'));
      const late = canary('a login while the session runs');
      fixture.acceptRepository();
      const read = [
        'sh',
        '-c',
        `kit; cd ${kit}; find . -type f -exec cat {} +; cat lib/credentials.toml lib/auth.json`,
      ];
      const env = { PATH: `${join(kit, 'bin')}:${USUAL}` };
      const before = onTheHost(['sh', '-c', `find ${kit} -type f -exec cat {} +`]).stdout;
      positiveControl('the same words on the machine', before, (text) =>
        secrets.every(({ secret }) => text.includes(secret)),
      );
      expect(commandLine(fixture, ['create', 'a'], { env })).toMatchObject({ code: 0 });
      const litterbox = fixture.open();
      expect(commandLine(fixture, ['run', 'a', '--', 'kit'], { env }).stdout).toContain('of the kit');
      writeFileSync(join(kit, 'lib/auth.json'), late.secret);
      const { stdout } = commandLine(fixture, ['run', 'a', '--', ...read], { env });
      expect([...secrets, late].filter(({ secret }) => stdout.includes(secret)).map(({ place }) => place)).toEqual([]);
      expect(stdout).toContain('of the kit');
      await litterbox.delete('a', { force: true });
    },
  );

  attack('AX52: the pager of the repository does not run for who stands in a subdirectory of it', async (fixture) => {
    const { scratch, marks } = fixture;
    const [own, bin, sub] = [join(scratch.directory, 'bin'), join(scratch.repository, 'bin'), 'src'];
    makeProgram(own, 'less', `${marks.touch('own')}\nexec cat`);
    makeProgram(bin, 'less', `${marks.touch('repository')}\nexec cat`);
    fixture.acceptRepository();
    const sandbox = await fixture.open().create({ name: 'a' });
    await sandbox.files.write('src/more.txt', 'more\n');
    const shown = (searchPath: string) =>
      onTerminal(fixture, ['diff', 'a'], '', {
        cwd: join(scratch.repository, sub),
        env: { PATH: `${searchPath}:${USUAL}`, LITTERBOX_PAGER: 'less' },
      });
    expect(shown(`${bin}:${own}`)).toContain('more.txt');
    expect(marks.found()).not.toContain('repository');
    positiveControl('the pager of the person', marks.found(), (found) => found.includes('own'));
    marks.clear();
  });
});
