import * as z from 'zod';
import { TraceWork, type WorkTrace } from '../../use-cases/review/trace-work.ts';
import { fields } from '../declare/fields.ts';
import { operation } from '../declare/operation.ts';

/** A record of Agent Trace. @see https://agent-trace.dev version 0.1.0 */
function agentTrace({ sandbox, tip, atMs, files, leftOut }: WorkTrace) {
  return {
    version: '0.1.0',
    id: crypto.randomUUID(),
    timestamp: new Date(atMs).toISOString(),
    tool: { name: 'litterbox' },
    files: files.map(({ path, calls }) => ({
      path,
      conversations: calls.map(({ contributor: type, ranges }) => ({
        contributor: { type },
        ranges: ranges.map(({ firstLine, lastLine }) => ({ start_line: firstLine, end_line: lastLine })),
      })),
    })),
    metadata: {
      'dev.litterbox': {
        sandbox,
        revision: tip,
        leftOut,
        calls: files.map(({ calls }) => calls.map(({ call, actor }) => ({ call, actor }))),
      },
    },
  };
}

/** `sandbox-trace`, `litterbox trace`: record which calls wrote the changed lines, in the form of Agent Trace. */
export const traceWork = operation({
  name: 'sandbox-trace',
  summary: 'Print which calls wrote the changed lines, as a record of Agent Trace',
  effect: 'read',
  command: {
    verb: 'trace',
    positional: ['sandbox'],
    examples: ['trace fix-login > trace.json', 'trace fix-login | git notes --ref agent-trace add -F - HEAD'],
  },
  input: z.strictObject({ sandbox: fields.sandbox() }),
  document: agentTrace,
  execute: async (useCases, { sandbox }, options) => await useCases.get(TraceWork).trace(sandbox, options),
});
