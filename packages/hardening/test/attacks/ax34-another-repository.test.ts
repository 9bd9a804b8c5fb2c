// Trust is for one repository: another one at its place begins anew.
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

const FILES = {
  '.litterbox.toml': '[container]\nsetup-command = ["sh", "setup.sh"]\n',
  'setup.sh': 'true\n',
  'src/a.txt': 'a\n',
};

describe('another repository', () => {
  attack(
    'AX34: a repository at the place of another one is asked about anew, also with the same configuration',
    async (fixture) => {
      const { scratch } = fixture;
      const litterbox = (...args: readonly string[]) => commandLine(fixture, args);
      expect(litterbox('create', 'a')).toMatchObject({ code: 4, stderr: expect.stringContaining('litterbox trust') });
      expect(litterbox('trust', '--yes').code).toBe(0);
      const created = litterbox('create', 'a');
      positiveControl('the repository that was trusted', created.code, (code) => code === 0);
      // Moved, it is still the same one.
      const moved = join(scratch.directory, 'moved');
      renameSync(scratch.repository, moved);
      renameSync(moved, scratch.repository);
      expect(litterbox('create', 'b').code).toBe(0);
      for (const name of ['a', 'b']) expect(litterbox('delete', name, '--force').code).toBe(0);

      scratch.git('clone', '-q', scratch.repository, moved);
      rmSync(scratch.repository, { recursive: true });
      renameSync(moved, scratch.repository);
      scratch.file('setup.sh', 'echo of somebody else\n');
      scratch.git('-c', 'user.name=X', '-c', 'user.email=x@localhost', 'commit', '-qam', 'other scripts');
      scratch.file('.env', '');
      fixture.acceptRepository();
      for (const args of [
        ['create', 'a'],
        ['trust', '--show', '--json'],
      ]) {
        const { code, stdout, stderr } = litterbox(...args);
        if (args[0] === 'create')
          expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('litterbox trust') });
        else expect(JSON.parse(stdout)).toMatchObject({ isTrusted: false });
      }
    },
    FILES,
  );
});
