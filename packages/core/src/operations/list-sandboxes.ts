import * as z from 'zod';
import { ListSandboxes, type SandboxSummary } from '../use-cases/review/list-sandboxes.ts';
import { fields } from './declare/fields.ts';
import { operation } from './declare/operation.ts';

/** `sandbox-list`, `litterbox list`: list sandboxes. */
export const listSandboxes = operation({
  name: 'sandbox-list',
  summary: 'List sandboxes',
  effect: 'read',
  command: { verb: 'list', positional: [], examples: ['list', 'list --all --json', 'list --label task=login'] },
  input: z.strictObject({
    all: fields.flag().optional().describe('Of every repository'),
    labels: fields.labels().optional().describe('Only those that have this label; again for more'),
  }),
  document: (sandboxes: readonly SandboxSummary[]) => sandboxes,
  execute: async (useCases, { all, labels }, options) =>
    await useCases.get(ListSandboxes).list(all ? 'all' : 'repository', { ...options, labels }),
});
