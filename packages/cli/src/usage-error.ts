import { LitterboxError, type LitterboxErrorCode, visible } from '@litterbox/core';
import type { Command, CommanderError } from 'commander';

const CODES: Readonly<Record<string, LitterboxErrorCode>> = {
  'commander.help': 'ARG_MISSING',
  'commander.unknownCommand': 'UNKNOWN_COMMAND',
  'commander.unknownOption': 'ARG_UNKNOWN',
  'commander.excessArguments': 'ARG_UNKNOWN',
  'commander.missingArgument': 'ARG_MISSING',
  'commander.optionMissingArgument': 'ARG_MISSING',
  'commander.invalidArgument': 'ARG_RANGE',
};
/** What people of other programs type first. */
const SYNONYMS: Readonly<Record<string, string>> = {
  attach: 'shell',
  checkout: 'worktree',
  commit: 'milestone',
  destroy: 'delete',
  enter: 'shell',
  exec: 'run',
  info: 'explain',
  inspect: 'explain',
  ls: 'list',
  new: 'create',
  ps: 'list',
  remove: 'delete',
  reset: 'restore',
  rm: 'delete',
  rollback: 'restore',
  ssh: 'shell',
  start: 'create',
  status: 'list',
  stop: 'pause',
};
/** Enough for the parser's own words and a value of 80 characters. */
const MAX_CHARACTERS = 240;

/** What the parser of words found wrong, in the form that every error has. */
export function usageError({ code, message }: CommanderError, command?: Command): LitterboxError {
  const said = code === 'commander.help' ? 'no command was given' : message.replace(/^error: /, '');
  const [, unknown = ''] = /^unknown command '(.*)'/s.exec(said) ?? [];
  const synonym = Object.hasOwn(SYNONYMS, unknown) ? SYNONYMS[unknown] : undefined;
  const line = visible(
    synonym === undefined ? said.replace(/\s+/g, ' ') : `unknown command '${unknown}' (Did you mean ${synonym}?)`,
  );
  return new LitterboxError(
    CODES[code] ?? 'INVALID_ARGUMENT',
    line.length <= MAX_CHARACTERS ? line : `${line.slice(0, MAX_CHARACTERS - 1)}…`,
    {
      operation: 'cli.parse',
      hint: gitHint(code, message, command) ?? hintOf(command),
    },
  );
}

/** What git merge takes is no option of the command that has it passed on. */
function gitHint(code: string, message: string, command: Command | undefined): string | undefined {
  const [, option] = /'(-[^']*)'/.exec(message) ?? [];
  const verb = command?.name();
  if (code !== 'commander.unknownOption' || option === undefined || (verb !== 'merge' && verb !== 'apply'))
    return undefined;
  return `Arguments of git merge come last, after --: litterbox ${verb} NAME -- ${visible(option.slice(0, 80))}. litterbox ${verb} --help shows options and examples.`;
}

function hintOf(command: Command | undefined): string {
  if (!command?.parent)
    return 'litterbox --help lists the commands, litterbox COMMAND --help shows options and examples.';
  const words = [command.name()];
  for (let above: Command | null = command.parent; above; above = above.parent) words.unshift(above.name());
  return `Usage: ${words.join(' ')} ${command.usage()}; ${words.join(' ')} --help shows options and examples.`;
}
