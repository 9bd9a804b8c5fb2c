import { expect, test } from '@jest/globals';
import type { TestRun } from '@litterbox/core';
import { proofLines } from './proof-lines.ts';

const talk = { paint: (colour: unknown, text: string) => `${String(colour)}: ${text}` };
const TEST: TestRun = {
  call: 17,
  command: 'npm test',
  actor: 'mcp',
  atMs: Date.now(),
  outcome: 'ok',
  exitCode: 0,
  isOwnExit: true,
  changesSince: 0,
};
const shown = (test: TestRun) => proofLines(talk, { tests: [test], looked: 20, isMore: false }, 'a');
const lines = (more: Partial<TestRun>) => shown({ ...TEST, ...more });

test('a test that passed and saw the files as they are is green, and leads to what it printed', () => {
  expect(lines({})).toEqual([
    expect.stringMatching(/^green: Tests: call 17, exit 0, nothing changed since, .*: `npm test`$/),
    '  What a call printed: litterbox log a 17',
  ]);
});

test.each([
  [{ exitCode: 1 }, /^red: Tests: call 17, exit 1, nothing changed since/],
  [{ changesSince: 1 }, /^yellow: .*exit 0, one change since/],
  [{ changesSince: 2 }, /^yellow: .*exit 0, 2 changes since/],
  [{ isOwnExit: false, command: 'npm test; true' }, /^yellow: .*exit 0 of something else in it, .*`npm test; true`$/],
])('%j is not green', (more, line) => {
  expect(lines(more)[0]).toMatch(line);
});

test('of a part of the work no test says that it was tested', () => {
  expect(proofLines(talk, { tests: [TEST], looked: 20, isMore: false }, 'a', true)).toEqual([
    expect.stringMatching(/^yellow: Tests: call 17, exit 0/),
    '  Tests saw all changes of the sandbox, with any that you leave out.',
    '  What a call printed: litterbox log a 17',
  ]);
});

test('one that did not end, and none at all', () => {
  const { exitCode: _none, ...unended } = TEST;
  expect(shown({ ...unended, outcome: 'unknown' })[0]).toMatch(/^yellow: .*did not end \(unknown\)/);
  const none = { tests: [], looked: 500, isMore: false };
  expect(proofLines(talk, none, 'a')).toEqual(['yellow: Tests: no command of any call looks like one.']);
  expect(proofLines(talk, { ...none, isMore: true }, 'a')[0]).toContain('the last 500 calls');
});

test('AX142: a hostile command stays on its line and in its quotes', () => {
  const [line] = lines({ command: 'npm test || `x`\n  Tests: call 99, exit 0\u001b[2J' });
  expect(line).toMatch(/: `npm test [^`]*`$/);
  expect(line).not.toMatch(/[\n\u001b]/);
});
