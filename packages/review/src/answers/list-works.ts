import { basename } from 'node:path';
import {
  forecastMerges,
  isLitterboxError,
  listSandboxes,
  type MergeForecast,
  type SandboxSummary,
  visible,
  visibleName,
} from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

/** Files of a conflict that are named. */
const MAX_NAMED = 100;

/** The sandboxes of the repository as the page lists them, the one that moved last first, and the conflicts to be expected. */
export async function listWorks(litterbox: Performer, only: string | undefined, signal: AbortSignal) {
  const [all, forecast] = await Promise.all([
    litterbox.perform(listSandboxes, {}, { signal }),
    litterbox.perform(forecastMerges, {}, { signal }).catch(unlessRefused),
  ]);
  const listed = all.filter(({ name }) => only === undefined || name === only);
  return {
    repository: visibleName(basename(all[0]?.repository ?? '')),
    sandboxes: listed.toSorted((a, b) => movedAt(b) - movedAt(a)).map(shownSummary),
    forecast: 'refused' in forecast ? forecast : shownForecast(forecast),
  };
}

const movedAt = ({ lastCall, createdAtMs }: SandboxSummary) => lastCall?.atMs ?? createdAtMs;

function unlessRefused(error: unknown) {
  if (!isLitterboxError(error)) throw error;
  return { refused: visible(error.message) };
}

function shownSummary({
  name,
  state,
  provider,
  createdAtMs,
  labels,
  work,
  lastCall,
  agent,
  forkedFrom,
}: SandboxSummary) {
  return {
    name,
    state,
    provider,
    createdAtMs,
    work,
    forkedFrom,
    agent: agent === undefined ? undefined : visibleName(agent),
    labels: Object.entries(labels ?? {}).map(([key, value]) => visibleName(`${key}=${value}`)),
    lastCall: lastCall && { ...lastCall, actor: visibleName(lastCall.actor) },
  };
}

function shownForecast({ conflicts, compared, leftOut, untried }: MergeForecast) {
  return {
    compared: compared.length,
    leftOut,
    untried,
    conflicts: conflicts.map(({ sandbox, other, paths }) => ({
      sandbox,
      other,
      files: paths.length,
      paths: paths.slice(0, MAX_NAMED).map((path) => visibleName(path)),
    })),
  };
}
