import * as z from 'zod';
import { type HistoryEntry, ReadHistory } from '../../use-cases/review/read-history.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-log`, `litterbox log`: show what happened in a sandbox, newest first: revisions, and calls that changed nothing. */
export const readLog = operation({
  name: 'sandbox-log',
  summary: 'Show what happened in a sandbox, newest first: revisions, and calls that changed nothing',
  effect: 'read',
  command: { verb: 'log', positional: ['sandbox'], examples: ['log fix-login', 'log fix-login -n 3 -p'] },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    limit: fields.limit().optional().describe('How many'),
    revisionsOnly: fields.flag().optional().describe('Without the calls that changed nothing'),
  }),
  document: (entries: readonly HistoryEntry[]) => entries,
  execute: async (useCases, { sandbox, limit, revisionsOnly = false }, options) =>
    await useCases.get(ReadHistory).read(sandbox, { limit, quietCalls: !revisionsOnly }, options),
});
