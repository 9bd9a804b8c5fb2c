import * as z from 'zod';
import type { AuditEntry } from '../ports/state/audit-log.ts';
import { ReadAudit } from '../use-cases/review/read-audit.ts';
import { fields } from './declare/fields.ts';
import { operation } from './declare/operation.ts';

/** `audit-list`, `litterbox audit`: show who did what, or check that nothing was changed. */
export const readAudit = operation({
  name: 'audit-list',
  summary: 'Show who did what, or check that nothing was changed',
  effect: 'read',
  command: { verb: 'audit', positional: ['sandbox'], examples: ['audit fix-login -n 20', 'audit --verify'] },
  input: z.strictObject({
    sandbox: fields.sandbox().optional(),
    limit: fields.limit().optional().describe('How many, the newest'),
  }),
  document: (entries: readonly AuditEntry[]) => entries,
  execute: async (useCases, { sandbox, limit }, options) =>
    await useCases.get(ReadAudit).entries({ sandbox, limit }, options),
});

/** `audit-verify`: check the whole chain of hashes of the audit log. */
export const verifyAudit = operation({
  name: 'audit-verify',
  summary: 'Walk the whole chain of hashes of the audit log',
  effect: 'read',
  input: z.strictObject({}),
  document: (result: { readonly entries: number }) => result,
  execute: async (useCases, _input, options) => await useCases.get(ReadAudit).verify(options),
});
