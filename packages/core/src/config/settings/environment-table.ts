import { isTable, Refused, refusedValue, setting } from './setting.ts';
import { variableProblem } from './variable-problem.ts';

/** A key that takes a table of variables. */
export function environmentTable() {
  const schema = {
    type: 'object',
    description: 'Variables that every command in the sandbox gets. Not for secrets.',
    additionalProperties: { type: 'string' },
  };
  return setting(schema, (value): Readonly<Record<string, string>> | Refused => {
    if (!isTable(value))
      return refusedValue('CONFIG_TYPE', value, 'a table of strings', 'Write env = { NAME = "value" }.');
    const variables: [string, string][] = [];
    for (const [name, text] of Object.entries(value)) {
      const problem = variableProblem(name, typeof text === 'string' ? text : '');
      if (problem) return new Refused(problem.code, problem.reason, problem.hint, [name]);
      if (typeof text !== 'string') {
        return refusedValue('CONFIG_TYPE', text, 'a string', `Write it in quotes: ${name} = "…".`, [name]);
      }
      variables.push([name, text]);
    }
    return Object.fromEntries(variables);
  });
}
