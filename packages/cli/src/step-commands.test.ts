import { expect, test } from '@jest/globals';
import { STEP_COMMANDS } from '@litterbox/core';
import { MANIFEST } from './words/command-manifest.ts';
import { OWN_COMMANDS } from './own-commands.ts';

const commands = [
  ...MANIFEST.map(({ group, verb }) => [group, verb].filter(Boolean).join(' ')),
  ...OWN_COMMANDS.flatMap(({ verb, below = [] }) => [verb, ...below.map((one) => `${verb} ${one.verb}`)]),
];

test.each(Object.entries(STEP_COMMANDS))('%s is a command: %s', (_step, form) => {
  const [command = ''] = / ?(?:[a-z]+ ?)+/.exec(form) ?? [];
  expect(commands).toContain(command.trim());
});
