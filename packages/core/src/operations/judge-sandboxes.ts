import * as z from 'zod';
import { type JudgedSandbox, JudgeSandboxes, type JudgeResult } from '../use-cases/go-back/judge-sandboxes.ts';
import { fields } from './declare/fields.ts';
import { operation } from './declare/operation.ts';
import { forkDocument } from './fork-document.ts';

/** `sandbox-judge`: run a judge in several sandboxes, and rank their work. */
export const judgeSandboxes = operation({
  name: 'sandbox-judge',
  summary: 'Run a judge in several sandboxes at once, and rank their work',
  effect: 'write',
  input: z.strictObject({
    sandboxes: z.array(fields.sandbox()).min(1).max(16),
    judge: fields
      .text('command')
      .describe('Runs in each sandbox: exit status 0 passes, and a number on its last line ranks'),
  }),
  document: ({ judged, winner }: JudgeResult) => ({
    ...(winner !== undefined && { winner }),
    judged: judged.map((one) => ({ name: one.record.slug, ...judgedDocument(one) })),
  }),
  execute: async (useCases, input, options) => await useCases.get(JudgeSandboxes).judge(input, options),
});

/** The figures of one, as a document has them. */
export function judgedDocument({ isPassed, score, changedFiles, changedLines, judgement, error }: JudgedSandbox) {
  return {
    passed: isPassed,
    ...(score !== undefined && { score }),
    changedFiles,
    changedLines,
    ...(judgement && { judge: { exitCode: judgement.exit.code, durationMs: judgement.durationMs } }),
    ...(error && forkDocument({ error })),
  };
}
