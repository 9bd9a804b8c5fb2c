// The trees that people look into: nothing of an agent is where a program of the person looks for files.
import { existsSync, lstatSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { type AttackFixture, onTheHost, positiveControl } from '../../src/index.ts';
import { agentOn, SANDBOX } from './attack-by-agent.ts';
import { attack } from './attack.ts';
import { commandLine } from './command-line.ts';

const JEST = new URL('../../../../node_modules/jest/bin/jest.js', import.meta.url).pathname;

const FILES = {
  'package.json': '{"name":"project"}\n',
  'src/own.test.js': 'test("own", () => {});\n',
  '.litterbox.toml': 'worktrees = "eager"\n',
};

/** The person's test runner, started where they start it. */
function runTests(fixture: AttackFixture, directory: string): string {
  const config = JSON.stringify({ transform: {} });
  const args = [JEST, '--ci', '--rootDir', directory, '--config', config, '--cache=false'];
  const { stdout, stderr } = onTheHost([process.execPath, ...args], { cwd: directory });
  fixture.hear('the test runner', stdout, stderr);
  return stdout + stderr;
}

describe('exported trees', () => {
  attack(
    'AX23: no tree of an agent appears in the work tree without a yes, and none where programs of the person find it',
    async (fixture) => {
      const { repository, directory } = fixture.scratch;
      const mark = join(directory, 'evil');
      const place = join(repository, '.litterbox/worktrees', SANDBOX);
      await using agent = await agentOn(fixture);
      const litterbox = (...args: readonly string[]) => commandLine(fixture, args);
      // Eager trees open something: a person agrees to them, and a variable cannot.
      expect(litterbox('trust', '--show').stdout).toContain('worktrees = "eager"');
      expect(await agent.code('sandbox-create', { name: SANDBOX })).toBe('CONFIG_UNTRUSTED');
      expect(litterbox('trust', '--yes').code).toBe(0);
      const byVariable = commandLine(fixture, ['create', 'x'], { env: { LITTERBOX_WORKTREES: 'eager' } });
      expect({ code: byVariable.code, stderr: byVariable.stderr }).toEqual({
        code: 4,
        stderr: expect.stringContaining('LITTERBOX_WORKTREES'),
      });
      // An agent's own call writes none, whatever the person agreed to.
      await agent.text('sandbox-create', { name: SANDBOX });
      const evil = `require('node:fs').writeFileSync(${JSON.stringify(mark)}, ''); test('evil', () => {});\n`;
      await agent.text('write', { sandbox: SANDBOX, path: 'src/evil.test.js', content: evil });
      await agent.text('write', { sandbox: SANDBOX, path: 'package.json', content: '{"name":"evil"}\n' });
      await agent.text('sandbox-milestone', { sandbox: SANDBOX, message: 'more tests' });
      expect(existsSync(join(repository, '.litterbox'))).toBe(false);
      // The person sees what can run code, and says yes, before anything is written.
      const refused = litterbox('worktree', SANDBOX);
      expect({ code: refused.code, stderr: refused.stderr }).toEqual({
        code: 4,
        stderr: expect.stringContaining('package.json'),
      });
      expect(existsSync(place)).toBe(false);
      litterbox('diff', SANDBOX);
      expect(litterbox('worktree', SANDBOX, '--yes-risky').code).toBe(0);
      expect(lstatSync(place).isSymbolicLink()).toBe(true);
      expect(realpathSync(place).startsWith(realpathSync(repository))).toBe(false);
      expect(runTests(fixture, repository)).toContain('src/own.test.js');
      expect(existsSync(mark)).toBe(false);
      expect(onTheHost(['find', repository, '-name', 'evil*']).stdout).toBe('');
      runTests(fixture, realpathSync(place));
      positiveControl('the same tests, in the tree itself', existsSync(mark), (isThere) => isThere);
      rmSync(mark);
      // It goes with the sandbox.
      expect(litterbox('delete', SANDBOX, '--force').code).toBe(0);
      expect(existsSync(place)).toBe(false);
      fixture.acceptRepository();
    },
    FILES,
  );
});
