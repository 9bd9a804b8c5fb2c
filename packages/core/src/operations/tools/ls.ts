import * as z from 'zod';
import { leftOutLines } from './text/left-out-lines.ts';
import { nameText } from './text/name-text.ts';
import { ListFiles } from '../../use-cases/work/list-files.ts';
import { type FoundName, type Walk } from '../../inside/walk-files.ts';
import { tool } from './tool.ts';
import { toolFields } from './tool-fields.ts';

const MAX_NAMES = 1_000;

export const ls = tool({
  name: 'ls',
  title: 'List a directory',
  summary: 'List a directory of a sandbox',
  effect: 'read',
  isIdempotent: true,
  describe: () =>
    `List a directory in the sandbox, one name a line; directories end with /, links with @. Hidden names are left out, and with recursive what lies in node_modules and __pycache__.`,
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    path: z.string().optional().describe('The directory, relative to the workspace or absolute; default the workspace'),
    recursive: z.boolean().optional().describe('Everything below it'),
  }),
  async execute(useCases, { sandbox, path = '.', recursive = false }, options) {
    const walk = await useCases.get(ListFiles).list({ sandbox, path, isRecursive: recursive }, options);
    const nothing = walk.hidden > 0 ? 'nothing that is shown' : 'the directory is empty';
    return namesAnswer(walk, nothing, 'list a directory further down, or use glob');
  },
});

const ENDS: Readonly<Record<FoundName['type'], string>> = { file: '', directory: '/', link: '@' };

/** Names a line each, and what was left out. */
export function namesAnswer(walk: Omit<Walk, 'root'>, nothing: string, more: string) {
  const { found, hidden, isCut } = walk;
  const named = found.slice(0, MAX_NAMES).map(({ path, type }) => `${nameText(path)}${ENDS[type]}`);
  const left = found.length - named.length;
  const note =
    left > 0 || isCut ? [`[${named.length} of ${isCut ? 'more than ' : ''}${found.length} names; ${more}]`] : [];
  return {
    type: 'text' as const,
    text: [
      [...(named.length === 0 ? [`[${nothing}]`] : named), ...note, ...leftOutLines(walk, named.length === 0)].join(
        '\n',
      ),
    ] as const,
    meta: { names: found.length, hidden, truncated: left > 0 || isCut },
  };
}
