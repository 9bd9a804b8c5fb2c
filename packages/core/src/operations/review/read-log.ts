import * as z from 'zod';
import { type HistoryEntry, ReadHistory } from '../../use-cases/review/read-history.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-log`, `litterbox log`: show what happened in a sandbox, newest first: revisions, and calls that changed nothing. */
export const readLog = operation({
  name: 'sandbox-log',
  summary: 'Show what happened in a sandbox, newest first: revisions, and calls that changed nothing',
  effect: 'read',
  command: {
    verb: 'log',
    positional: ['sandbox', 'call'],
    examples: ['log fix-login', 'log fix-login -n 3 -p', 'log fix-login 17'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    call: fields
      .text('call')
      .optional()
      .describe("This call alone, by its number or the agent's own id, with what it printed"),
    limit: fields.limit().optional().describe('How many'),
    revisionsOnly: fields.flag().optional().describe('Without the calls that changed nothing'),
  }),
  document: (entries: readonly HistoryEntry[]) => entries,
  execute: async (useCases, { sandbox, call, limit, revisionsOnly = false }, options) => {
    if (call === undefined)
      return await useCases.get(ReadHistory).read(sandbox, { limit, quietCalls: !revisionsOnly }, options);
    const all = await useCases.get(ReadHistory).read(sandbox, { quietCalls: true }, options);
    return all.filter((entry) => String(entry.call) === call || entry.callId === call);
  },
});
