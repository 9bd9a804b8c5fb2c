import * as z from 'zod';
import type { Milestone } from '../../ports/source-control/sandbox-histories.ts';
import { CutMilestone } from '../../use-cases/review/cut-milestone.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** `sandbox-milestone`, `litterbox milestone`: make one commit on the review branch of all revisions since the last. */
export const cutMilestone = operation({
  name: 'sandbox-milestone',
  summary: 'Make one commit on the review branch of all revisions since the last',
  effect: 'write',
  command: {
    verb: 'milestone',
    positional: ['sandbox', 'message'],
    examples: ["milestone fix-login 'Login works'", 'milestone fix-login Done --json'],
  },
  input: z.strictObject({
    sandbox: fields.sandbox(),
    message: fields.text('message').describe('What the commit is for'),
    waitMs: fields.waitMs(),
  }),
  document: (milestone: Milestone | undefined) => milestone ?? { commit: null },
  execute: async (useCases, { sandbox, message, waitMs: patienceMs }, options) =>
    await useCases.get(CutMilestone).cut(sandbox, message, { ...options, patienceMs }),
});
