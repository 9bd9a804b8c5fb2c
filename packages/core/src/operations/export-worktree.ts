import * as z from 'zod';
import { FindSandbox } from '../use-cases/find-sandbox.ts';
import { OpenRepository } from '../use-cases/open-repository.ts';
import { fields } from './fields.ts';
import { operation } from './operation.ts';

/** `sandbox-worktree`, `litterbox worktree`: write the review branch to .litterbox/worktrees/<name> as plain files. */
export const exportWorktree = operation({
  name: 'sandbox-worktree',
  summary: 'Write the review branch to .litterbox/worktrees/<name> as plain files',
  effect: 'host',
  command: { verb: 'worktree', positional: ['sandbox'], examples: ['worktree fix-login', 'worktree fix-login --json'] },
  input: z.strictObject({ sandbox: fields.sandbox() }),
  document: (made: { readonly directory: string; readonly files: number }) => made,
  async execute(useCases, { sandbox }, options) {
    const { id } = await useCases.get(FindSandbox).execute(sandbox, options);
    return await (await useCases.get(OpenRepository).execute(options)).exportTree(id, options);
  },
});
