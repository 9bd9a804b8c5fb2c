import type { Command } from '../../domain/processes/command.ts';
import { readArgumentList } from './argument-list.ts';
import { Refused, refusedValue, setting } from './setting.ts';

const strings = { type: 'array', items: { type: 'string' }, minItems: 1 };
const forms = [strings, { type: 'string' }, { type: 'array', items: strings, minItems: 1 }];

/**
 * Always several commands, whichever way it was written.
 *
 * @param description what they are for, with a colon at its end for how they are written
 * @param example a line of the file
 */
export function setupCommand(description: string, example: string) {
  const schema = {
    anyOf: forms,
    description: `${description} one command as a list, a text for the sandbox's shell (bash, or sh where there is none), or several lists in sequence.`,
  };
  return setting(schema, (value): readonly Command[] | Refused => {
    if (typeof value === 'string') {
      if (value.includes('\0')) return new Refused('CONFIG_VALUE', 'NUL not allowed', 'Remove the \\u0000.');
      if (value.trim() === '')
        return new Refused('CONFIG_VALUE', 'empty command', 'Write a command, or remove the key.');
      return [value];
    }
    if (!Array.isArray(value)) {
      const wanted = 'list of strings, e.g. ["npm","ci"], a string for the shell, or a list of such lists';
      return refusedValue('CONFIG_TYPE', value, wanted, `Write ${example}.`);
    }
    if (!value.some(Array.isArray)) {
      const command = readArgumentList(value);
      return command instanceof Refused ? command : [command];
    }
    const commands: Command[] = [];
    for (const [index, item] of value.entries()) {
      const command = readArgumentList(item, [index]);
      if (command instanceof Refused) return command;
      commands.push(command);
    }
    return commands;
  });
}
