import type { Command, CommanderError } from 'commander';

const blamed = new WeakMap<CommanderError, Command>();

/** For `exitOverride`: remembers which command the words were for. */
export function blame(command: Command): (error: CommanderError) => never {
  return (error) => {
    blamed.set(error, command);
    throw error;
  };
}

/** The command whose words could not be read; nothing where none was found. */
export const blamedCommand = (error: CommanderError): Command | undefined => blamed.get(error);
