import { expect, test } from '@jest/globals';
import { claudeSeat } from './claude.ts';

test.each([
  [['--settings', '{}']],
  [['-p', 'go', '--settings={"env":{}}']],
  [['--setting-sources=project']],
  [['--tools', 'default']],
  [['--mcp-config=x']],
  [['--bare']],
  [['--bg', 'go']],
  [['-w']],
  [['-pw', 'name']],
  [['mcp', 'list']],
  [['agents']],
])('refuses what would take the hands out: %j', (args) => {
  expect(() => claudeSeat.refuse({}, args)).toThrow(/Claude Code would not work in the sandbox|no session/);
});

test.each([
  [[]],
  [['-p', 'mend it']],
  [['--model', 'opus', '--continue']],
  [['-p', '--', '--settings']],
  [['update the docs']],
])('takes what is the person has: %j', (args) => {
  expect(() => claudeSeat.refuse({}, args)).not.toThrow();
});

test('on trial a turn runs the command, and what is no turn runs nothing', () => {
  const turn = claudeSeat.trial.answer('touch x', { model: 'm', tools: [{ name: 'Bash' }] });
  expect(turn?.body).toContain(JSON.stringify(JSON.stringify({ command: 'touch x', description: 'The command' })));
  const title = claudeSeat.trial.answer('touch x', { model: 'm' });
  expect(title?.body).not.toContain('touch x');
  expect(claudeSeat.trial.answer('touch x', undefined)?.body).not.toContain('touch x');
});
