import { expect, it } from '@jest/globals';
import { Command } from 'commander';
import { MANIFEST } from './words/command-manifest.ts';
import { COMMAND_GROUPS, GROUP_SUMMARIES, OPTION_GROUPS } from './help-groups.ts';
import { OWN_COMMANDS } from './own-commands.ts';
import { programOf } from './program.ts';

const program = programOf(() => {
  throw new Error('help opens nothing');
});

/** The help of a command on a terminal of so many columns. */
function helpOf(command: Command, columns: number): string {
  command.configureOutput({ getOutHelpWidth: () => columns, getOutHasColors: () => false });
  return command.helpInformation();
}

it('puts every command below one heading, and every option of a command that has headings', () => {
  const verbs = [...new Set(MANIFEST.map(({ group, verb }) => group ?? verb)), ...OWN_COMMANDS.map(({ verb }) => verb)];
  expect(COMMAND_GROUPS.flatMap(([, members]) => members).toSorted()).toEqual(verbs.toSorted());
  const named = MANIFEST.flatMap(({ group }) => group ?? []);
  expect(Object.keys(GROUP_SUMMARIES)).toEqual([...new Set(named)]);
  for (const [operation, groups] of Object.entries(OPTION_GROUPS)) {
    const keys = MANIFEST.find((one) => one.operation === operation)?.options.map(({ key }) => key) ?? [];
    expect(groups.flatMap(([, members]) => members).toSorted()).toEqual(keys.toSorted());
  }
});

it.each([60, 80, 120])('breaks lines of help between words at %d columns', (columns) => {
  for (const command of [program, ...program.commands]) {
    const help = helpOf(command, columns);
    const words = help.replace(/\s+/g, ' ');
    for (const one of [command, ...command.commands]) expect(words).toContain(one.description());
    for (const { description } of command.options) expect(words).toContain(description);
    const long = help.split('\n').filter((line) => line.length > columns);
    expect({ name: command.name(), long }).toEqual({ name: command.name(), long: [] });
  }
});
