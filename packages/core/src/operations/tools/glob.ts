import * as z from 'zod';
import { ListFiles } from '../../use-cases/work/list-files.ts';
import { namesAnswer } from './ls.ts';
import { tool } from './tool.ts';
import { toolFields } from './tool-fields.ts';

export const glob = tool({
  name: 'glob',
  title: 'Find files by name',
  summary: 'Find files of a sandbox by a pattern of their paths',
  effect: 'read',
  isIdempotent: true,
  describe: () =>
    'Find files in the sandbox whose path below the directory matches a pattern with * ? [a-z] {a,b} and ** for any number of directories, such as **/*.test.ts. Links, hidden files and what lies in node_modules and __pycache__ are left out, unless path names such a directory.',
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    pattern: z.string().describe('For example src/**/*.{ts,tsx}'),
    path: z.string().optional().describe('Where to begin; default the workspace'),
  }),
  async execute(useCases, { sandbox, pattern, path = '.' }, options) {
    const walk = await useCases.get(ListFiles).glob({ sandbox, pattern, path }, options);
    return namesAnswer(walk, 'no file matches', 'give a narrower pattern');
  },
});
