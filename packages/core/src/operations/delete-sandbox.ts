import * as z from 'zod';
import type { SandboxRecord } from '../ports/state/state-store.ts';
import { DeleteSandbox } from '../use-cases/remove/delete-sandbox.ts';
import { fields } from './declare/fields.ts';
import { operation } from './declare/operation.ts';

/** `sandbox-delete`, `litterbox delete`: delete a sandbox with all it holds. */
export const deleteSandbox = operation({
  name: 'sandbox-delete',
  summary: 'Delete a sandbox with all it holds',
  effect: 'host',
  command: { verb: 'delete', positional: ['sandbox'], examples: ['delete fix-login', 'delete one two --force'] },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    force: fields.flag().optional().describe('Even if its work is nowhere else'),
    forget: fields.flag().optional().describe('Only forget it here, because its machine or engine is gone for good'),
    waitMs: fields.waitMs(),
  }),
  document: ({ slug }: SandboxRecord) => ({ deleted: slug }),
  execute: async (useCases, { sandbox, force, forget, waitMs: patienceMs }, options) =>
    await useCases.get(DeleteSandbox).delete(sandbox, { force, forget }, { ...options, patienceMs }),
});
