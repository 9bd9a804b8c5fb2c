import { z } from 'zod';
import type { LogEntry } from '../ports/source-control.ts';
import { FindSandbox } from '../use-cases/find-sandbox.ts';
import { OpenRepository } from '../use-cases/open-repository.ts';
import { fields } from './fields.ts';
import { operation } from './operation.ts';

export const readLog = operation({
  name: 'sandbox-log',
  summary: 'Show the revisions of a sandbox, newest first',
  effect: 'read',
  command: { verb: 'log', positional: ['sandbox'], examples: ['log fix-login', 'log fix-login -n 3 -p'] },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    limit: fields.limit().optional().describe('How many'),
  }),
  document: (entries: readonly LogEntry[]) => entries,
  async execute(useCases, { sandbox, limit }, options): Promise<readonly LogEntry[]> {
    const { id } = await useCases.get(FindSandbox).execute(sandbox, options);
    const repository = await useCases.get(OpenRepository).execute(options);
    const entries: LogEntry[] = [];
    for await (const entry of repository.log(id, { ...options, ...(limit !== undefined && { limit }) }))
      entries.push(entry);
    return entries;
  },
});
