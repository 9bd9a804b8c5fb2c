import * as z from 'zod';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import { AccessFiles } from '../../use-cases/work/access-files.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `file-write`: replace a file of a sandbox as a whole and record it. */
export const writeFile = operation({
  name: 'file-write',
  summary: 'Replace a file of a sandbox as a whole and record it',
  effect: 'write',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    path: fields.text('path').describe('Absolute inside, or relative to the workspace'),
    content: z.union([z.string(), fields.octets()]).describe('All of the new content'),
    message: fields.message().optional().describe('The subject of the revision'),
    waitMs: fields.waitMs(),
  }),
  document: (recorded: RevisionResult) => recorded,
  async execute(useCases, { sandbox, path, content, message, waitMs }, options) {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    const input = { sandbox, path, content: bytes, message, waitMs };
    return (await useCases.get(AccessFiles).write(input, options)).recorded;
  },
});
