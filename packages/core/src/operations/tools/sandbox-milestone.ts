import { step } from '../../domain/errors/next-step.ts';
import { stepCommand } from '../declare/step-command.ts';
import * as z from 'zod';
import { slugify } from '../../domain/sandbox/slug.ts';
import { CutMilestone } from '../../use-cases/review/cut-milestone.ts';
import { tool } from './tool.ts';
import { toolFields } from './tool-fields.ts';

const facts = z.object({
  milestone: z.object({ commit: z.string(), branch: z.string(), revisions: z.number() }).optional(),
  review: z.string().optional(),
  note: z.string().optional(),
});

export const sandboxMilestone = tool({
  name: 'sandbox-milestone',
  title: 'Offer the work for review',
  summary: 'Make one commit for the person of all revisions since the last',
  effect: 'write',
  isIdempotent: true,
  profiles: ['standard', 'roadmap'],
  describe: () =>
    'Finish a step: makes one commit, with your message, of everything recorded since the last milestone, on a branch that the person reviews. Call it when the work is done, and after each step that makes sense by itself.',
  input: z.strictObject({
    sandbox: toolFields.sandbox(),
    message: z.string().describe('The commit message: what was done and why'),
  }),
  facts,
  async execute(useCases, { sandbox, message }, options) {
    const milestone = await useCases.get(CutMilestone).cut(sandbox, message, options);
    return {
      type: 'facts',
      facts: (milestone
        ? {
            milestone: {
              commit: milestone.commit,
              branch: milestone.branch.replace(/^refs\/heads\//, ''),
              revisions: milestone.revisions,
            },
            review: reviewText(slugify(sandbox).slug),
          }
        : { note: 'Nothing was recorded since the last milestone.' }) satisfies z.input<typeof facts>,
    };
  },
});

/** What the person does next, for the last sentence of whoever offered the work. */
const reviewText = (slug: string) =>
  `The person reviews with: ${stepCommand(step('sandbox-diff', { sandbox: slug }))}; and accepts with: ${stepCommand(step('sandbox-merge', { sandbox: slug }))}`;
