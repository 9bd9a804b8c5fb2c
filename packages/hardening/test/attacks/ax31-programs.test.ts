// Programs of ours on the host: a repository cannot put its own in their place, whatever PATH names first.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { type AttackFixture, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

const PROGRAMS =
  'sh bash env bwrap unshare mount umount flock setpriv setsid nsenter mkfifo cp rm mv mkdir stat readlink cat tar find perl git rsync less losetup mkfs.ext4';
const USUAL = '/usr/bin:/bin:/usr/sbin:/sbin';

/** A directory of the repository with programs that leave their name in `called`, then do what the real ones do. */
function fakes({ scratch }: AttackFixture) {
  const directory = join(scratch.repository, 'node_modules/.bin');
  const called = join(scratch.directory, 'called');
  mkdirSync(directory, { recursive: true });
  for (const name of PROGRAMS.split(' ')) {
    const path = join(directory, name);
    writeFileSync(path, `#!/bin/sh\necho ${name} >>${called}\nPATH=${USUAL}; export PATH\nexec ${name} "$@"\n`);
    chmodSync(path, 0o755);
  }
  return { directory, called: () => (existsSync(called) ? readFileSync(called, 'utf8').trim().split('\n') : []) };
}

describe('programs', () => {
  attack('AX31: programs of the repository that PATH names first do not run in place of ours', async (fixture) => {
    fixture.scratch.git('config', 'core.excludesFile', '/dev/null');
    const { directory, called } = fakes(fixture);
    const env = { PATH: `${directory}:${USUAL}` };
    execFileSync('sh', ['-c', ':'], { env });
    positiveControl('a shell that is looked up in PATH', called(), (names) => names.includes('sh'));
    const before = called().length;
    for (const args of [
      ['create', 'a'],
      ['run', 'a', '--', 'sh', '-c', 'echo x >src/new.txt'],
      ['milestone', 'a', 'one'],
      ['diff', 'a'],
      ['delete', 'a', '--force'],
    ])
      expect({ args, commandLine: commandLine(fixture, args, { env }) }).toEqual({
        args,
        commandLine: expect.objectContaining({ code: 0 }),
      });
    fixture.acceptRepository();
    expect(called().slice(before)).toEqual([]);
  });
});
