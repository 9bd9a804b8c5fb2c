import * as z from 'zod';
import { AuditRead } from '../../use-cases/review/audit-read.ts';
import { ListSandboxes } from '../../use-cases/review/list-sandboxes.ts';
import { tool } from './tool.ts';

const facts = z.object({
  sandboxes: z.array(z.object({ name: z.string(), state: z.string(), provider: z.string(), createdAt: z.string() })),
});

/** The tool `sandbox-list`: the sandboxes of the repository. */
export const sandboxList = tool({
  name: 'sandbox-list',
  title: 'List sandboxes',
  summary: 'List the sandboxes of the repository',
  effect: 'read',
  isIdempotent: true,
  profiles: ['standard', 'roadmap'],
  describe: () => 'List the sandboxes of this repository with their states. Only ready ones can be worked in.',
  input: z.strictObject({}),
  facts,
  async execute(useCases, _input, options) {
    const list = async () => await useCases.get(ListSandboxes).list('repository', options);
    const sandboxes = await useCases.get(AuditRead).ofRepository('sandbox-list', list, options);
    return {
      type: 'facts',
      facts: {
        sandboxes: sandboxes.map(({ name, state, provider, createdAtMs }) => ({
          name,
          state,
          provider,
          createdAt: new Date(createdAtMs).toISOString(),
        })),
      } satisfies z.input<typeof facts>,
    };
  },
});
