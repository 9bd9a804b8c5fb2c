import * as z from 'zod';
import type { FileChange } from '../ports/file-change.ts';
import { FindSandbox } from '../use-cases/find-sandbox.ts';
import { OpenRepository } from '../use-cases/open-repository.ts';
import { fields } from './fields.ts';
import { operation } from './operation.ts';

/** What a sandbox changed, in two forms that are read on demand: a summary, and the patch as a stream of hostile bytes. */
export interface SandboxDiff {
  files(): Promise<readonly FileChange[]>;
  /** @param hasBinary with the content of binary files, as `git apply` takes it */
  patch(hasBinary?: boolean): AsyncIterable<Uint8Array>;
}

/** `sandbox-diff`, `litterbox diff`: show what a sandbox changed. */
export const readDiff = operation({
  name: 'sandbox-diff',
  summary: 'Show what a sandbox changed',
  effect: 'read',
  command: {
    verb: 'diff',
    positional: ['sandbox', 'paths'],
    examples: ['diff fix-login', 'diff fix-login --stat', 'diff fix-login --revision 3 src'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    paths: z.array(z.string()).readonly().optional().describe('Only these files and directories'),
    revision: fields.text('number').optional().describe('One revision against the one before, by number or commit'),
  }),
  async execute(useCases, { sandbox, paths, revision }, options): Promise<SandboxDiff> {
    const { id } = await useCases.get(FindSandbox).execute(sandbox, options);
    const repository = await useCases.get(OpenRepository).execute(options);
    const scope = {
      ...options,
      ...(paths !== undefined && paths.length > 0 && { paths }),
      ...(revision !== undefined && { revision: (await repository.resolve(id, revision, options)).commit }),
    };
    return {
      files: () => repository.changes(id, scope),
      patch: (hasBinary = false) => repository.diff(id, { ...scope, hasBinary }),
    };
  },
});
