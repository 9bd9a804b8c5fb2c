import { expect, test } from '@jest/globals';
import { AnnouncedCalls } from './announced-calls.ts';

const told = (id: string, command: string) =>
  JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command }, tool_use_id: id });

test('a call is found by its command, once, the first that was told first', () => {
  const calls = new AnnouncedCalls();
  for (const [id, command] of [
    ['toolu_1', 'ls'],
    ['toolu_2', 'pwd'],
    ['toolu_3', 'ls'],
  ] as const)
    expect(calls.announce(told(id, command))).toBeUndefined();
  expect([calls.take('ls'), calls.take('ls'), calls.take('ls'), calls.take('pwd')]).toEqual([
    'toolu_1',
    'toolu_3',
    undefined,
    'toolu_2',
  ]);
});

test('the name of a call is one that a revision can carry', () => {
  const calls = new AnnouncedCalls();
  calls.announce(told(`a b\n${'x'.repeat(200)}`, 'ls'));
  expect(calls.take('ls')).toMatch(/^[\w.:-]{128}$/);
});

test('calls that never came are forgotten', () => {
  const calls = new AnnouncedCalls();
  for (let number = 0; number < 100; number += 1) calls.announce(told(`toolu_${number}`, `echo ${number}`));
  expect([calls.take('echo 0'), calls.take('echo 99')]).toEqual([undefined, 'toolu_99']);
});

test('an agent gets no worktree outside of the sandbox, and what is not understood is refused', () => {
  const calls = new AnnouncedCalls();
  const agent = (input: object) => calls.announce(JSON.stringify({ tool_name: 'Agent', tool_input: input }));
  expect(agent({ prompt: 'x' })).toBeUndefined();
  expect(agent({ prompt: 'x', isolation: 'worktree' })).toMatch('Leave out isolation');
  expect(calls.announce('{')).toMatch('does not understand');
  expect(calls.announce('{"tool_name":"Bash"}')).toMatch('does not understand');
});
