import * as z from 'zod';
import type { RevisionResult } from '../../ports/source-control/sandbox-histories.ts';
import { AccessFiles } from '../../use-cases/work/access-files.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** Most files of one call. More are an archive, for a command inside. */
const MAX_FILES = 10_000;

const file = z.strictObject({ path: z.string(), content: z.union([z.string(), fields.octets()]) });

/** `files-write`: replace several files of a sandbox as a whole and record them as one revision. */
export const writeFiles = operation({
  name: 'files-write',
  summary: 'Replace several files of a sandbox as a whole and record them together',
  effect: 'write',
  input: z.strictObject({
    sandbox: fields.sandbox(),
    files: z.array(file).min(1).max(MAX_FILES).readonly().describe('Each with its path and all of its new content'),
    message: fields.message().optional().describe('The subject of the revision'),
    waitMs: fields.waitMs(),
  }),
  document: (recorded: RevisionResult) => recorded,
  async execute(useCases, { files, ...input }, options) {
    const encoder = new TextEncoder();
    const encoded = files.map(({ path, content }) => ({
      path,
      content: typeof content === 'string' ? encoder.encode(content) : content,
    }));
    return await useCases.get(AccessFiles).writeAll({ ...input, files: encoded }, options);
  },
});
