import { expect, test } from '@jest/globals';
import { normalArguments } from './normal-arguments.ts';
import { programOf } from '../program.ts';

const program = programOf(() => {
  throw new Error('Nothing is carried out.');
});

test.each<readonly [given: string, wanted: string]>([
  ['list --json', '--json list'],
  ['diff x -C /there --stat', '-C /there diff x --stat'],
  ['diff x --repo /there', '--repo /there diff x'],
  ['diff x --repo=/there', '--repo=/there diff x'],
  ['run x make -C there', 'run x -- make -C there'],
  ['run -C /there x make -C there', '-C /there run x -- make -C there'],
  ['run x -- git -C there log', 'run x -- git -C there log'],
  ['-v', '--version'],
  ['version', '--version'],
  ['help', 'help'],
  ['help agent run', 'agent run --help'],
  ['help nosuch', 'nosuch'],
  ['help agent nosuch', 'agent nosuch'],
])('%s is %s', (given, wanted) => {
  expect(normalArguments(program, given.split(' ')).join(' ')).toBe(wanted);
});
