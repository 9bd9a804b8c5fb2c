import * as z from 'zod';
import { condenseOutput } from '../../domain/search/condense-output.ts';
import { type FoundLine, SearchFiles } from '../../use-cases/work/search-files.ts';
import { leftOutLines } from './text/left-out-lines.ts';
import { nameText } from './text/name-text.ts';
import { tool } from './tool.ts';
import { toolFields } from './tool-fields.ts';

const MAX_LINES = 200;
const MAX_CHARACTERS = 24_000;
const MAX_LINE_CHARACTERS = 300;

export const grep = tool({
  name: 'grep',
  title: 'Search in files',
  summary: 'Search the files of a sandbox with a regular expression',
  effect: 'read',
  isIdempotent: true,
  describe: () =>
    `Search the content of files in the sandbox with a regular expression (without lookaround and backreferences). Hidden and binary files are left out, and node_modules and __pycache__ unless path names one.`,
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    pattern: z.string().describe('The regular expression'),
    path: z.string().optional().describe('A directory or a file; default the workspace'),
    include: z.string().optional().describe('Only files whose name matches, such as *.{ts,tsx} or src/**/*.c'),
    ignoreCase: z.boolean().optional(),
  }),
  async execute(useCases, { sandbox, pattern, path = '.', include, ignoreCase = false }, options) {
    const found = await useCases
      .get(SearchFiles)
      .search({ sandbox, pattern, path, include, isCaseIgnored: ignoreCase }, options);
    const { text, shown } = grouped(found.lines);
    const isCut = found.isCut || shown < found.lines.length;
    const more = `${shown} of ${found.isCut ? 'more than ' : ''}${found.lines.length} lines; narrow it down with path or include`;
    return {
      type: 'text',
      text: [
        [
          ...(shown === 0 ? ['[no line matches]'] : [text]),
          ...(isCut ? [`[${more}]`] : leftOutLines(found, shown === 0)),
        ].join('\n'),
      ],
      meta: { lines: found.lines.length, hidden: found.hidden, truncated: isCut },
    };
  },
});

/** The path once, then its lines: half the tokens of a path before each. */
function grouped(lines: readonly FoundLine[]): { readonly text: string; readonly shown: number } {
  const rows: string[] = [];
  let path: string | undefined;
  let characters = 0;
  let shown = 0;
  for (const line of lines.slice(0, MAX_LINES)) {
    const content = condenseOutput(line.text.toWellFormed(), {
      maxCharacters: 4 * MAX_LINE_CHARACTERS,
      maxLineCharacters: MAX_LINE_CHARACTERS,
    }).text;
    const row = `${line.line}: ${content}`;
    characters += row.length;
    if (characters > MAX_CHARACTERS) break;
    if (line.path !== path) rows.push(nameText(line.path));
    path = line.path;
    rows.push(row);
    shown += 1;
  }
  return { text: rows.join('\n'), shown };
}
