import { type Parsed, readUsage, type ShownUsage } from '@litterbox/core';
import type { Context } from '../context.ts';
import { table } from '../terminal/table.ts';

async function cost(context: Context, input: Parsed<typeof readUsage>): Promise<void> {
  const { talk, signal } = context;
  const usage = await (await context.litterbox()).perform(readUsage, input, { signal });
  if (talk.json) return talk.document(usage);
  if (usage.length === 0) return talk.notice(`${input.sandbox} has no endpoints, so nothing of it is counted.`);
  const rows = usage.map(({ endpoint, requests, tokens, budget = {} }) => [
    endpoint,
    bounded(requests, budget.requests),
    String(tokens.input),
    String(tokens.output),
    bounded(tokens.input + tokens.output, budget.tokens),
  ]);
  talk.result(table(['ENDPOINT', 'REQUESTS', 'TOKENS IN', 'OUT', 'TOGETHER'], rows, process.stdout.isTTY));
  const uncounted = usage.reduce((sum, one) => sum + one.uncounted, 0);
  if (uncounted > 0) talk.notice(`${uncounted} answers counted no tokens, or could not be read.`);
}

const bounded = (spent: number, most: number | undefined) =>
  most === undefined ? String(spent) : `${spent} of ${most}`;

/** All tokens of a sandbox, for a list. */
export function tokensCell(usage: readonly ShownUsage[] = []): string {
  const sum = usage.reduce((total, { tokens }) => total + tokens.input + tokens.output, 0);
  return usage.length === 0 ? '' : String(sum);
}

export const presented = { 'sandbox-usage': { operation: readUsage, present: cost } } as const;
