/**
 * The next step of an error for a model: what a person does by the command line, a tool does, or the person is to be asked.
 *
 * @param prefix stands before the names of the tools
 */
export function agentHint(hint: string, prefix: string): string {
  if (/^Make one: litterbox create NAME\.?$/.test(hint)) return `Make one: ${prefix}sandbox-create.`;
  return /\blitterbox [a-z]/.test(hint) ? `Go on without it, or ask the person for this: ${hint}` : hint;
}
