import { Refused, refusedValue } from './setting.ts';

export type ArgumentList = readonly [string, ...string[]];

const HINT = 'Write the program and each of its arguments as one text, e.g. ["npm", "ci"].';

/** One command: its program and its arguments. */
export function readArgumentList(value: unknown, path: readonly (string | number)[] = []): ArgumentList | Refused {
  if (!Array.isArray(value))
    return refusedValue('CONFIG_TYPE', value, 'list of strings, e.g. ["npm","ci"]', HINT, path);
  const parts: string[] = [];
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string') return refusedValue('CONFIG_TYPE', item, 'a string', HINT, [...path, index]);
    if (item.includes('\0'))
      return new Refused('CONFIG_VALUE', 'NUL not allowed', 'Remove the \\u0000.', [...path, index]);
    parts.push(item);
  }
  const [program, ...rest] = parts;
  if (program === undefined || program.trim() === '') return new Refused('CONFIG_VALUE', 'empty command', HINT, path);
  return [program, ...rest];
}
