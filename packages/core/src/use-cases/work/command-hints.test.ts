import { expect, test } from '@jest/globals';
import { stepForPrograms, worded } from '../../domain/errors/next-step.ts';
import { commandHints } from './command-hints.ts';

const POLICY = { limits: {}, network: { setup: 'none', run: 'none' }, workspaceGit: 'none', setup: [] } as const;
const hints = (text: string, change: object = {}) =>
  commandHints({ ...POLICY, ...change }, { exit: { code: 127 }, text }, 'agent').map((hint) =>
    worded(hint, stepForPrograms),
  );

test.each([
  'sh: 1: tape: not found',
  'bash: line 1: jest: command not found\n',
  "Error: Cannot find module 'left-pad'",
  "ModuleNotFoundError: No module named 'requests'",
])('a package that is missing is told with the way to it: %s', (text) => {
  expect(hints(text)).toEqual([
    expect.stringMatching(
      /^a sandbox has what git tracks .*create\(\{ include: \["node_modules"\] \}\), or create\(\{ setup: /,
    ),
  ]);
});

test('nothing is said of packages where a setup or a person brought them, nor of files of the project', () => {
  const missing = 'sh: 1: tape: not found';
  for (const change of [{ setup: [['npm', 'ci']] }, { include: ['node_modules'] }])
    expect(hints(missing, change)).toEqual([]);
  expect(hints("Error: Cannot find module './src/a.js'")).toEqual([]);
  expect(hints('tape: not found, said a test')).toEqual([]);
});

test('one rule is told, the one that is nearest to the cause', () => {
  expect(hints('bash: sudo: command not found')).toEqual([expect.stringMatching(/^no program is root here/)]);
  expect(hints('Could not resolve host: x.org\nsh: 1: tape: not found')).toEqual([
    expect.stringMatching(/^this sandbox has no network/),
  ]);
});
