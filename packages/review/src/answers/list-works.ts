import { basename } from 'node:path';
import { listSandboxes, type SandboxSummary, visibleName } from '@litterbox/core';
import type { Performer } from 'litterbox/performer';

/** The sandboxes of the repository as the page lists them, the one that moved last first. */
export async function listWorks(litterbox: Performer, only: string | undefined, signal: AbortSignal) {
  const all = await litterbox.perform(listSandboxes, {}, { signal });
  const listed = all.filter(({ name }) => only === undefined || name === only);
  return {
    repository: visibleName(basename(all[0]?.repository ?? '')),
    sandboxes: listed.toSorted((a, b) => movedAt(b) - movedAt(a)).map(shownSummary),
  };
}

const movedAt = ({ lastCall, createdAtMs }: SandboxSummary) => lastCall?.atMs ?? createdAtMs;

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
