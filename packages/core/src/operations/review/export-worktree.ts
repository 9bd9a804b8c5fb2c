import * as z from 'zod';
import { type ExportedTree, ExportTree } from '../../use-cases/review/export-tree.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-worktree`, `litterbox worktree`: write the review branch's files, with .litterbox/worktrees/<name> as the way there. */
export const exportWorktree = operation({
  name: 'sandbox-worktree',
  summary: 'Write the files of the review branch, to look into at .litterbox/worktrees/<name>',
  effect: 'host',
  command: { verb: 'worktree', positional: ['sandbox'], examples: ['worktree fix-login', 'worktree fix-login --json'] },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    tip: fields.tip(),
    acceptRisky: fields.acceptRisky(),
  }),
  document: (made: ExportedTree) => made,
  execute: async (useCases, input, options) =>
    await useCases.get(ExportTree).export({ ...input, onRisky: options?.onRisky }, options),
});
