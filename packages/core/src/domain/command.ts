/** A text for the sandbox's shell (bash where there is one, else sh), or a program and its arguments verbatim. */
export type Command = string | readonly [string, ...string[]];

/** The command in one line, for people. */
export function commandText(command: Command): string {
  return typeof command === 'string' ? command : command.join(' ');
}
