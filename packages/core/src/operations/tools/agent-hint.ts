/** Between the sentences of a hint, and between what stands before and after a semicolon. */
const PARTS = /(?<=[.;]) (?=[A-Za-z])/;
const COMMAND = /\blitterbox [a-z].*$/s;

/**
 * The next step of an error for a model: where a person uses the command line and there is a tool, the tool; else the command that
 * the person is to be asked for, without the words that are for the person alone.
 *
 * @param nameOf the name under which a tool is offered
 */
export function agentHint(hint: string, nameOf: (tool: string) => string): string {
  const own = hint
    .replace(/, work in it, or delete it: litterbox delete \S+$/, ', or work in it.')
    .replaceAll(/`?litterbox create NAME`?/g, nameOf('sandbox-create'))
    .replaceAll(/`?litterbox list`?/g, nameOf('sandbox-list'))
    .replace(/^Look with ls -la in the sandbox\.$/, `Look with ${nameOf('bash')}: ls -la.`)
    .replace(/\bbash(?= for what is hidden|: cat)/, nameOf('bash'));
  const commands: string[] = [];
  const kept: string[] = [];
  for (const part of own.split(PARTS)) {
    const [command] = COMMAND.exec(part) ?? [];
    if (command === undefined) kept.push(part);
    else commands.push(command.replaceAll('`', '').replace(/[.;]$/, ''));
  }
  if (commands.length === 0) return own;
  return [...kept.map((part) => part.replace(/;$/, '.')), `Ask the person to run: ${commands.join(', then ')}.`].join(
    ' ',
  );
}
