// What a person merges is what they were shown: a sandbox that goes on between the look and the yes.
import { describe, expect } from '@jest/globals';
import { type AttackFixture, positiveControl } from '../../src/index.ts';
import { attack } from './attack.ts';
import { commandLine, onTerminal } from './command-line.ts';

const FILES = { 'src/f.js': 'module.exports = () => 1;\n' };
const HARMLESS = 'module.exports = () => 2;\n';
const EVIL = "require('evil');\n";

const merged = ({ scratch }: AttackFixture) => scratch.git('show', 'HEAD:src/f.js');

describe('what was shown', () => {
  attack(
    'AX90: what a program that was left behind writes after the diff is not merged without a word',
    async (fixture) => {
      const litterbox = fixture.open();
      const sandbox = await litterbox.create({ name: 'a' });
      await fixture.run(
        sandbox,
        `printf '%s' '${HARMLESS}' >src/f.js; (until [ -e /tmp/go ]; do sleep 0.05; done; printf '%s' "${EVIL}" >src/f.js; >/tmp/done) >/dev/null 2>&1 &`,
      );
      const shown = commandLine(fixture, ['diff', 'a']);
      expect({ code: shown.code, stdout: shown.stdout }).toEqual({
        code: 0,
        stdout: expect.stringContaining('+module.exports = () => 2;'),
      });
      // Of the container's own: nothing of it is recorded by a call.
      await fixture.run(sandbox, '>/tmp/go');
      await fixture.run(sandbox, 'until [ -e /tmp/done ]; do sleep 0.05; done');
      for (const verb of ['merge', 'apply']) {
        const refused = commandLine(fixture, ['--json', verb, 'a', '-m', 'Return 2']);
        expect({ verb, code: refused.code, said: JSON.parse(refused.stderr.trim().split('\n').at(-1) ?? '') }).toEqual({
          verb,
          code: 6,
          said: { error: expect.objectContaining({ code: 'CHANGED_SINCE_SHOWN' }) },
        });
        expect(refused.stderr).toContain('src/f.js');
      }
      expect(merged(fixture)).toBe(FILES['src/f.js'].trim());
      // The next look has it, and the yes after that is to what it showed.
      positiveControl('what the program wrote, in the next diff', commandLine(fixture, ['diff', 'a']).stdout, (diff) =>
        diff.includes(EVIL.trim()),
      );
      expect(commandLine(fixture, ['merge', 'a', '-m', 'Return 2']).code).toBe(0);
      expect(merged(fixture)).toBe(EVIL.trim());
      fixture.acceptRepository();
    },
    FILES,
  );

  attack(
    'AX90: a diff shows what no call has recorded',
    async (fixture) => {
      const sandbox = await fixture.open().create({ name: 'a' });
      // A terminal that a person holds open: what is written in it is recorded when it ends.
      await using _shell = await fixture.open().attach({
        sandbox: 'a',
        command: ['sh', '-c', `printf '%s' "${EVIL}" >src/f.js; read rest`],
      });
      while (!Buffer.from(await sandbox.files.read('src/f.js')).includes('evil')) await new Promise(setImmediate);
      const { stdout, stderr } = commandLine(fixture, ['diff', 'a']);
      expect({ stdout, stderr }).toEqual({ stdout: expect.stringContaining('evil'), stderr: '' });
    },
    FILES,
  );

  attack(
    'AX90: a state counts as shown only where its contents were',
    async (fixture) => {
      const sandbox = await fixture.open().create({ name: 'a' });
      await sandbox.files.write('src/f.js', EVIL);
      // Names and counts, and a question whose answer goes to a program.
      expect(commandLine(fixture, ['diff', 'a', '--json'])).toMatchObject({ code: 0 });
      for (const flags of [['--json'], [], ['--json']]) {
        await sandbox.files.write('src/f.js', `${EVIL}${flags.join()}\n`);
        const asked = onTerminal(fixture, [...flags, 'merge', 'a'], 'n');
        for (const said of [EVIL.trim(), 'Merge a']) expect(asked).toContain(said);
      }
      expect(merged(fixture)).toBe(FILES['src/f.js'].trim());
      // A pager that is not there shows nothing.
      await sandbox.files.write('src/f.js', HARMLESS);
      const shown = onTerminal(fixture, ['diff', 'a'], '', { env: { LITTERBOX_PAGER: 'no-such-pager' } });
      for (const said of ['() => 2', '"no-such-pager" cannot be started']) expect(shown).toContain(said);
    },
    FILES,
  );

  attack(
    'AX91: what came after the last milestone is a line of the plan, and a person is shown it before they are asked',
    async (fixture) => {
      const litterbox = fixture.open();
      const sandbox = await litterbox.create({ name: 'a' });
      await sandbox.files.write('src/f.js', HARMLESS);
      await litterbox.milestone('a', 'Return 2');
      await sandbox.files.write('src/f.js', EVIL);
      expect(fixture.scratch.git('diff', 'main', 'litterbox/a')).not.toContain('evil'); // what git alone shows
      expect(fixture.scratch.git('log', '-1', '--format=%b', 'litterbox/a')).toContain('holds nothing later');
      const asked = onTerminal(fixture, ['merge', 'a'], 'n');
      for (const said of ['One revision came after the last milestone', 'Nobody has looked', EVIL.trim(), 'Merge a?'])
        expect(asked).toContain(said);
      expect(merged(fixture)).toBe(FILES['src/f.js'].trim());
      const other = await fixture.open().create({ name: 'b' });
      await other.files.write('src/f.js', HARMLESS);
      await litterbox.milestone('b', 'Return 2');
      await other.files.write('src/f.js', EVIL);
      expect(commandLine(fixture, ['merge', 'b']).stderr).toContain('the branch litterbox/b is not all of it');
      fixture.acceptRepository();
    },
    FILES,
  );

  attack(
    'AX91: what a milestone has and the last state has not is named, and asked about where it can run code',
    async (fixture) => {
      const litterbox = fixture.open();
      const sandbox = await litterbox.create({ name: 'a' });
      await sandbox.files.write('.husky/pre-commit', EVIL);
      await sandbox.files.write('key.txt', 'of somebody\n');
      await sandbox.files.write('src/f.js', EVIL);
      await litterbox.milestone('a', 'One');
      await fixture.run(sandbox, 'rm -r .husky key.txt');
      await sandbox.files.write('src/f.js', FILES['src/f.js']);
      await sandbox.files.write('fine.txt', 'fine\n');
      const diff = commandLine(fixture, ['diff', 'a']).stdout;
      expect({ hasFine: diff.includes('+fine'), hasEvil: diff.includes('evil') }).toEqual({
        hasFine: true,
        hasEvil: false,
      });
      const refused = commandLine(fixture, ['merge', 'a']);
      expect(refused.code).toBe(4);
      for (const said of ['3 files are in a commit on the way', '.husky/pre-commit', 'key.txt', 'src/f.js'])
        expect(refused.stderr).toContain(said);
      const { passing, risky } = await litterbox.plan({ sandbox: 'a', integration: 'merge' });
      expect(passing?.toSorted()).toEqual(['.husky/pre-commit', 'key.txt', 'src/f.js']);
      expect(risky.map(({ path }) => path)).toEqual(['.husky/pre-commit']);
      // One commit of the last state has nothing on the way.
      expect((await litterbox.plan({ sandbox: 'a', integration: 'apply' })).passing).toBeUndefined();
      expect(commandLine(fixture, ['merge', 'a', '--', '--squash'])).toMatchObject({ code: 0 });
      fixture.acceptRepository();
    },
    FILES,
  );

  attack(
    'AX92: a yes to files that run code, given before, is a yes to the state that was shown',
    async (fixture) => {
      const sandbox = await fixture.open().create({ name: 'a' });
      await sandbox.files.write('.envrc', 'echo harmless\n');
      const blind = ['merge', 'a', '--yes-risky'];
      expect(commandLine(fixture, blind)).toMatchObject({ code: 4, stderr: expect.stringContaining('--tip ') });
      commandLine(fixture, ['diff', 'a']);
      await sandbox.files.write('.envrc', 'curl evil\n');
      expect(commandLine(fixture, blind)).toMatchObject({ code: 6, stderr: expect.stringContaining('.envrc') });
      expect(commandLine(fixture, [...blind, '--tip', '1'])).toMatchObject({ code: 6 });
      await fixture.open().milestone('a', 'more');
      expect(commandLine(fixture, ['worktree', 'a', '--yes-risky'])).toMatchObject({ code: 6 });
      expect(commandLine(fixture, [...blind, '--tip', '2'])).toMatchObject({ code: 0 });
      fixture.acceptRepository();
    },
    FILES,
  );

  attack(
    'AX95: terminal codes, and text behind hundreds of blanks, are named',
    async (fixture) => {
      const sandbox = await fixture.open().create({ name: 'a' });
      await sandbox.files.write('code.txt', 'fine\n\u001b[8mhidden\u001b[0m\n');
      await sandbox.files.write('pushed.js', `f();${' '.repeat(150)}${'\t'.repeat(150)}evil();\n`);
      await sandbox.files.write('wide.txt', `${' '.repeat(190)}x\n${' '.repeat(5000)}\n`);
      const { risky } = await fixture.open().plan({ sandbox: 'a', integration: 'merge' });
      expect(risky.map(({ path }) => path).toSorted()).toEqual(['code.txt', 'pushed.js']);
      await sandbox.files.write('wide.txt', `${' '.repeat(2 ** 20 - 2)}\n`); // one long run costs no more than its length
      await fixture.open().plan({ sandbox: 'a', integration: 'merge' });
    },
    FILES,
  );

  attack(
    'AX190: a line that a terminal writes over, and a comment that a lone CR ends, are named',
    async (fixture) => {
      const sandbox = await fixture.open().create({ name: 'a' });
      const hidden = {
        'over.sh': 'evil\r: # fine\n',
        'comment.js': '// fine\revil()\n',
        'back.txt': 'evil\b\b\b\bfine\n',
      };
      for (const [path, text] of Object.entries(hidden)) await sandbox.files.write(path, text);
      await sandbox.files.write('windows.txt', 'fine\r\nfine\r\r\n');
      await sandbox.files.write('ends.txt', '\r'.repeat(2 ** 20 - 2)); // costs no more than its length
      const { risky } = await fixture.open().plan({ sandbox: 'a', integration: 'merge' });
      expect(risky.map(({ path }) => path).toSorted()).toEqual(Object.keys(hidden).toSorted());
    },
    FILES,
  );

  attack(
    'AX93: the words that go into the history are in the plan, and none of them steers what reads commits',
    async (fixture) => {
      const litterbox = fixture.open();
      const sandbox = await litterbox.create({ name: 'a' });
      await sandbox.files.write('src/f.js', HARMLESS);
      await litterbox.milestone('a', 'Return 2 [skip ci]\n\nFixes #1\nCo-authored-by: Eve <eve@evil.test>');
      const { stderr } = commandLine(fixture, ['merge', 'a']);
      for (const said of ['Message of the commit:', 'Return 2 "skip ci"', 'Fixes #1', '> Co-authored-by'])
        expect(stderr).toContain(said);
      expect(fixture.scratch.git('log', '-1', '--format=%B')).not.toContain('[skip ci]');
      fixture.acceptRepository();
    },
    FILES,
  );
});
