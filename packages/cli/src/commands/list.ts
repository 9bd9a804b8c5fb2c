import {
  listSandboxes,
  LOCAL_HOST,
  type Parsed,
  parseProviderKey,
  type RecordedWork,
  visibleName,
} from '@litterbox/core';
import type { Context } from '../context.ts';
import { ago, table } from '../table.ts';

async function list(context: Context, input: Parsed<typeof listSandboxes>): Promise<void> {
  const { talk, signal } = context;
  const sandboxes = await (await context.litterbox()).perform(listSandboxes, input, { signal });
  const { all = false } = input;
  if (talk.json) return talk.document(sandboxes);
  if (sandboxes.length === 0) return talk.notice('No sandboxes. Make one: litterbox create NAME.');
  const paint = {
    ready: 'green',
    paused: 'yellow',
    stopped: 'yellow',
    creating: 'cyan',
    deleting: 'cyan',
    'setup-failed': 'red',
    missing: 'red',
    unreachable: 'yellow',
    slow: 'yellow',
    error: 'red',
  } as const;
  const isElsewhere = sandboxes.some(({ host }) => host !== LOCAL_HOST);
  const hasForks = sandboxes.some(({ forkedFrom }) => forkedFrom !== undefined);
  const rows = sandboxes.map(({ name, state, provider, host, repository, isDegraded, forkedFrom, work, lastCall }) => [
    name,
    talk.paint(paint[state], state) + (isDegraded ? talk.paint('red', ' (degraded)') : ''),
    isElsewhere ? parseProviderKey(provider).kind : provider,
    ...(isElsewhere ? [host] : []),
    ...(all ? [] : workCells(work)),
    lastCall === undefined ? '' : lastCall.isRunning ? talk.paint('cyan', 'at work') : ago(lastCall.atMs),
    ...(hasForks ? [forkedFrom ?? ''] : []),
    ...(all ? [visibleName(repository)] : []),
  ]);
  talk.result(
    table(
      [
        'NAME',
        'STATE',
        'PROVIDER',
        ...(isElsewhere ? ['HOST'] : []),
        ...(all ? [] : ['CHANGES', 'REVISIONS', 'MILESTONE']),
        'LAST CALL',
        ...(hasForks ? ['FORKED FROM'] : []),
        ...(all ? ['REPOSITORY'] : []),
      ],
      rows,
      process.stdout.isTTY,
    ),
  );
  for (const [state, did] of [
    ['slow', 'did not answer in time'],
    ['unreachable', 'cannot be reached'],
  ] as const) {
    const silent = [...new Set(sandboxes.filter((one) => one.state === state).map(({ provider }) => provider))];
    if (silent.length > 0)
      talk.notice(
        `${silent.join(' and ')} ${did}. Sandboxes marked "${state}" have not been changed. Details: litterbox doctor.`,
      );
  }
}

/** What differs from the base, how many revisions there are, and whether the last of them is offered for review. */
function workCells(work: RecordedWork | undefined): readonly string[] {
  if (!work) return ['', '', ''];
  const { revisions, unmilestoned, files, addedLines, removedLines } = work;
  if (revisions === 0) return ['none', '0', ''];
  const milestone = unmilestoned === 0 ? 'offered' : unmilestoned === revisions ? 'none' : `${unmilestoned} after it`;
  const changes = `+${addedLines} -${removedLines}, ${files === 1 ? 'one file' : `${files} files`}`;
  return [files === 0 ? 'none' : changes, String(revisions), milestone];
}

export const presented = {
  'sandbox-list': { operation: listSandboxes, present: list },
} as const;
