import {
  type ComputeUse,
  type Parsed,
  readCompute,
  readUsage,
  type ResourceUsage,
  type ShownUsage,
  visible,
} from '@litterbox/core';
import type { Context } from '../context.ts';
import { bytes, table } from '../terminal/table.ts';

async function cost(context: Context, input: Parsed<typeof readUsage>): Promise<void> {
  const { talk, signal } = context;
  const litterbox = await context.litterbox();
  const endpoints = await litterbox.perform(readUsage, input, { signal });
  const compute = await litterbox.perform(readCompute, input, { signal });
  if (talk.json) return talk.document({ endpoints, compute });
  const rows = endpoints.map(({ endpoint, requests, tokens, budget = {} }) => [
    endpoint,
    bounded(requests, budget.requests),
    String(tokens.input),
    String(tokens.output),
    bounded(tokens.input + tokens.output, budget.tokens),
  ]);
  if (rows.length > 0)
    talk.result(table(['ENDPOINT', 'REQUESTS', 'TOKENS IN', 'OUT', 'TOGETHER'], rows, process.stdout.isTTY));
  for (const line of computeLines(compute)) talk.result(line);
  if (rows.length === 0) talk.notice(`${input.sandbox} has no endpoints, so no requests and tokens are counted.`);
  const sumOf = (key: 'uncounted' | 'estimated') => endpoints.reduce((sum, one) => sum + one[key], 0);
  const uncounted = sumOf('uncounted');
  if (uncounted > 0) talk.notice(`${uncounted} answers counted no tokens, or could not be read.`);
  const estimated = sumOf('estimated');
  if (estimated > 0) talk.notice(`${estimated} answers ended without a count: their tokens are an estimate.`);
  if (compute.unasked !== undefined) talk.notice(visible(compute.unasked));
}

const bounded = (spent: number, most: number | undefined) =>
  most === undefined ? String(spent) : `${spent} of ${most}`;

/** Lines for a person: calls and processor time over all sessions, and what is in use now, where that is known. */
export function computeLines({ calls, callMs, untimed, now = {} }: ComputeUse): readonly string[] {
  const timed = calls - untimed;
  const killed = untimed > 0 ? `, and ${untimed} more of which nobody knows the time` : '';
  const { memoryBytes, processes, diskBytes } = now;
  const held = [
    memoryBytes === undefined ? '' : `${bytes(memoryBytes)} of memory`,
    processes === undefined ? '' : `${processes} ${processes === 1 ? 'process' : 'processes'}`,
    diskBytes === undefined ? '' : `${bytes(diskBytes)} of disk`,
  ].filter((text) => text !== '');
  const processor = processorTime(now);
  return [
    `${timed} ${timed === 1 ? 'call' : 'calls'} took ${timeText(callMs)}${killed}`,
    ...(processor === '' ? [] : [`${processor} of processor time`]),
    ...(held.length > 0 ? [`now: ${held.join(', ')}`] : []),
  ];
}

/** `2.5 h`, `at least 4.2 s`; empty where nobody counts it. */
export const processorTime = ({ cpuMs, isCpuLeast }: ResourceUsage): string =>
  cpuMs === undefined ? '' : `${isCpuLeast ? 'at least ' : ''}${timeText(cpuMs)}`;

const UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** `2.5 h`, `30 min`, `4.2 s`. */
export function timeText(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => ms >= 2 * one) ?? ['s', 1_000];
  return `${(ms / size).toFixed(ms / size < 10 ? 1 : 0)} ${unit}`;
}

/** All tokens of a sandbox, for a list. */
export function tokensCell(usage: readonly ShownUsage[] = []): string {
  const sum = usage.reduce((total, { tokens }) => total + tokens.input + tokens.output, 0);
  return usage.length === 0 ? '' : String(sum);
}

export const presented = { 'sandbox-usage': { operation: readUsage, present: cost } } as const;
