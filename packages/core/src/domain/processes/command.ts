/** A text for the sandbox's shell (bash where there is one, else sh), or a program and its arguments verbatim. */
export type Command = string | readonly [string, ...string[]];

/** The whole command in one line, for people. */
export function commandText(command: Command): string {
  return typeof command === 'string' ? command : command.join(' ');
}

/** What of a command a person recognises: of a text that a caller handed to a shell itself, as agents do, the text. */
export function commandSubject(command: Command): string {
  if (typeof command === 'string') return command;
  const [program, flags = '', text] = command;
  const isShell = command.length === 3 && /(?:^|\/)(?:ba|da|z|k)?sh$/.test(program) && /^-[a-z]*c$/.test(flags);
  return isShell && text !== undefined ? text : commandText(command);
}
