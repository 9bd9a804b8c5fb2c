import { forecastMerges, type ForecastLine, type MergeForecast, visibleName } from '@litterbox/core';
import type { Context } from '../context.ts';

async function forecast({ talk, signal, ...context }: Context): Promise<void> {
  const litterbox = await context.litterbox();
  const found = await litterbox.perform(forecastMerges, {}, { signal });
  if (talk.json) return talk.document(forecastMerges.document?.(found));
  for (const line of found.conflicts) talk.result(conflictLine(line));
  for (const line of boundLines(found)) talk.notice(line);
}

/** Files that a line names; the rest is counted. */
const MAX_NAMED = 5;

export function conflictLine({ sandbox, other, paths }: ForecastLine): string {
  const named = paths.slice(0, MAX_NAMED).map((path) => visibleName(path));
  const more = paths.length > named.length ? ` and ${paths.length - named.length} more` : '';
  return `${sandbox} conflicts with ${other ?? 'your branch'}: ${named.join(', ')}${more}`;
}

/** The result in one line, and what was not looked at. */
export function boundLines({ conflicts, compared, leftOut, untried }: MergeForecast): readonly string[] {
  const sandboxes = compared.length === 1 ? 'One sandbox' : `${compared.length} sandboxes`;
  return [
    ...(conflicts.length === 0 ? [`${sandboxes}: no conflicts, by what is recorded.`] : []),
    ...(leftOut > 0 ? [`${leftOut} older sandboxes were not compared.`] : []),
    ...(untried > 0 ? [`${untried} pairs of sandboxes were not tried: there are too many.`] : []),
  ];
}

export const presented = {
  'sandbox-forecast': { operation: forecastMerges, present: forecast },
} as const;
